import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EvaluationRecord } from '../../../src/alerts/trigger.ts'
import { HOUR, hourOf, packEvaluation, unpackEvaluations } from '../../../src/store/evaluation-log.ts'
import { runs } from '../../kit/runs.ts'

const START = 1_790_000_000_000
const time = fc.integer({ min: START, max: START + 10 * 86_400_000 }).map((ms) => ms / 1000)
const poll = fc.record({
  kind: fc.constant('poll' as const),
  at: time,
  now: time,
  previousSuccess: fc.option(time, { nil: undefined }),
  limited: fc.boolean(),
})
const tick = fc.record({
  kind: fc.constant('tick' as const),
  at: time,
  pollAge: fc.nat(1e9).map((ms) => ms / 1000),
})

test('what is written to the log is read from it to the millisecond', () => {
  fc.assert(
    fc.property(fc.oneof(poll, tick), (evaluated: EvaluationRecord) => {
      expect(unpackEvaluations(hourOf(evaluated), packEvaluation(evaluated))).toEqual([evaluated])
    }),
    { numRuns: runs(2000) },
  )
})

test('the entries of an hour stand in its row one after the other, in a few characters each', () => {
  const hour = Math.floor(START / 1000 / HOUR) * HOUR
  const at = hour + 1200.25
  const evaluated: EvaluationRecord[] = [
    { kind: 'poll', at, now: at - 1, previousSuccess: at - 16, limited: false },
    { kind: 'tick', at: at + 15, pollAge: 31 },
    { kind: 'poll', at: at + 30, now: at + 29, previousSuccess: undefined, limited: true },
  ]
  const row = evaluated.map(packEvaluation).join('')
  expect(row).toBe('w1200250,1199250,1184250;t1215250,31000;l1230250,1229250,;')
  expect(unpackEvaluations(hour, row)).toEqual(evaluated)
})
