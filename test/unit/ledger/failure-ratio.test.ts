import { expect, test } from 'vitest'
import { countWindow, failureRatio } from '../../../src/ledger/failure-ratio.ts'
import { keptFinishes } from '../../../src/ledger/finished-calls.ts'
import { finishAt as finish } from '../../kit/alerts/sample-rules.ts'

test('a window reaches back to the previous successful poll if that is earlier', () => {
  const finished = keptFinishes([finish(100), finish(500), finish(990)])
  expect(countWindow(finished, 60, { now: 1000, previousSuccess: 985 }).total).toBe(1)
  expect(countWindow(finished, 60, { now: 1000, previousSuccess: 400 }).total).toBe(2)
  expect(countWindow(finished, 60, { now: 1000, previousSuccess: undefined }).total).toBe(1)
})

test.each([
  ['any', 0.6],
  ['unanswered', 0.1],
  ['rejected', 0.2],
  ['canceled', 0.3],
] as const)('the failure ratio for reason %s is %d', (reason, ratio) => {
  const counts = { ended: 3, unanswered: 1, rejected: 2, canceled: 3, other: 1, total: 10 }
  expect(failureRatio(counts, reason)).toBeCloseTo(ratio, 12)
})
