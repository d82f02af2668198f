import { describe, expect, test } from 'vitest'
import type { Rule } from '../../../src/alerts/rule.ts'
import { labelsOf } from '../../../src/ledger/call.ts'
import type { FinishedCall } from '../../../src/ledger/finished-calls.ts'
import { finishAt, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { openCall } from '../../kit/metrics/hand-made-target.ts'
import { evaluatedTarget, pollAt, START, type PartOfPoll } from './evaluated-target.ts'

const CREATED = START + 86_400
const NOW = CREATED + 30
const failed = (at: number, n = 30) => Array.from({ length: n }, () => finishAt(at, 'rejected'))
const ratio: Rule = { ...RATIO, for: 0 }
const started = ruleOn({ name: 'calls_started', window: 900 }, { breach: 'above', threshold: 0, clear: 0 })
const few = ruleOn({ name: 'calls_finished', window: 900 }, { breach: 'below', threshold: 50, clear: 50 })

function stateAfter(rule: Rule, finished: readonly FinishedCall[], more: PartOfPoll = {}, now = NOW): string {
  const target = evaluatedTarget([rule])
  target.evaluate(pollAt(now, { created: CREATED, knownFrom: CREATED - 86_400, finished, ...more }), now)
  return target.state(rule.name)
}

describe('calls that had all finished when the target was set up', () => {
  test.each<[string, Rule]>([
    ['a ratio', ratio],
    ['a number of calls that began', started],
    ['too small a number', few],
  ])('raise no alert on %s, until another one finishes', (_what, rule) => {
    const past = failed(CREATED - 60)
    expect(stateAfter(rule, past)).toBe('inactive')
    expect(stateAfter(rule, [...past, finishAt(CREATED + 20, 'ended')])).toBe('firing')
  })

  test('raise none in a group that the next call is not of', () => {
    const rule: Rule = { ...ratio, by: ['type'] }
    const target = evaluatedTarget([rule])
    const labels = labelsOf('video', 'call', 'user')
    const others = failed(CREATED + 20).map((call) => ({ ...call, labels }))
    target.evaluate(pollAt(NOW, { created: CREATED, finished: [...failed(CREATED - 60), ...others] }), NOW)
    expect([...target.instances.keys()]).toEqual([`${rule.name}{type="video"}`])
  })

  test('do not keep a call that is still open from raising one', () => {
    const open = [openCall('a', { initiatedAt: CREATED - 60, startedAt: CREATED - 50 })]
    expect(stateAfter(started, [], { open })).toBe('firing')
  })

  test('raise none that needs calls, before its window is all of the time since then', () => {
    expect([30, 899, 901].map((seconds) => stateAfter(few, [], {}, CREATED + seconds))).toEqual([
      'inactive',
      'inactive',
      'firing',
    ])
  })

  test('raise none on a budget, until minutes are used in a quarter of an hour that began since', () => {
    const budget = ruleOn(
      { name: 'budget_minutes', limit: 100, of: 'participants', timezone: 'UTC', cycleDay: 1 },
      { breach: 'above', threshold: 1, clear: 1 },
    )
    const used = (since: number) => ({ usedSince: (time: number) => (time < CREATED ? 500 : since) })
    expect(stateAfter(budget, [], used(0))).toBe('inactive')
    expect(stateAfter(budget, [], used(2))).toBe('firing')
  })
})
