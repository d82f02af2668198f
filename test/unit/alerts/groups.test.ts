import { describe, expect, test } from 'vitest'
import { ruleValues } from '../../../src/alerts/rule-value.ts'
import { documentedGroups, instanceKey, isGroupOf, type RuleLabels } from '../../../src/alerts/groups.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { labelled, openSince, times } from './sample-calls.ts'
import { ruleOn } from '../../kit/alerts/sample-rules.ts'
import { at, pollAt, evaluatedTarget } from './evaluated-target.ts'

const CALLS = ruleOn({ name: 'calls_finished', window: 900 }, { name: 'Calls' })

/** The values of a rule by the key of the alert, after these calls. */
function valuesOf(rule: Rule, finished: ReturnType<typeof times>, known: RuleLabels[] = []) {
  const values = ruleValues(rule, pollAt(at(0), { finished }), known)!
  return Object.fromEntries([...values].map(([key, { value }]) => [key, value]))
}

describe('the key of an alert', () => {
  test.each<[RuleLabels, string]>([
    [{}, 'Calls'],
    [{ mode: 'call' }, 'Calls{mode="call"}'],
    [{ receiver_type: 'user', type: 'audio' }, 'Calls{type="audio", receiver_type="user"}'],
    [
      { mode: 'meet', receiver_type: 'group', type: 'video' },
      'Calls{type="video", mode="meet", receiver_type="group"}',
    ],
  ])('by its rule and labels, whatever their order: %j', (labels, key) => {
    expect(instanceKey('Calls', labels)).toBe(key)
    expect(instanceKey('Calls', Object.fromEntries(Object.entries(labels).toReversed()))).toBe(key)
  })

  test('does not depend on the order of the labels in `by`, so that no incident is orphaned', () => {
    const target = evaluatedTarget([{ ...CALLS, by: ['type', 'mode'] }])
    target.evaluate(pollAt(at(0), { finished: times(3, at(0)) }), at(0))
    target.reload([{ ...CALLS, by: ['mode', 'type'] }])
    target.evaluate(pollAt(at(15), { finished: times(3, at(0)) }), at(15))
    expect(target.kinds()).toEqual(['firing'])
    expect([...target.instances.keys()]).toEqual(['Calls{type="audio", mode="call"}'])
  })
})

describe('a rule with groups', () => {
  test('evaluates every documented value, with or without such calls', () => {
    expect(valuesOf({ ...CALLS, by: ['type'] }, [])).toEqual({ 'Calls{type="audio"}': 0, 'Calls{type="video"}': 0 })
    expect(valuesOf({ ...CALLS, by: ['mode'] }, times(2, at(0)))).toEqual({
      'Calls{mode="call"}': 2,
      'Calls{mode="meet"}': 0,
      'Calls{mode="presenter"}': 0,
    })
  })

  test('evaluates a group of undocumented values only if there is such a call, or its alert is known', () => {
    const rule: Rule = { ...CALLS, by: ['receiver_type'] }
    const other = 'Calls{receiver_type="other"}'
    expect(valuesOf(rule, times(1, at(0)))).not.toHaveProperty([other])
    expect(valuesOf(rule, times(1, at(0), 'ended', labelled('audio', 'call', 'other')))).toHaveProperty([other], 1)
    expect(valuesOf(rule, [], [{ receiver_type: 'other' }])).toHaveProperty([other], 0)
  })

  test('evaluates each combination of the values of several labels', () => {
    const values = valuesOf({ ...CALLS, by: ['type', 'mode', 'receiver_type'] }, times(3, at(0)))
    expect(Object.keys(values)).toHaveLength(2 * 3 * 2)
    expect(values).toHaveProperty(['Calls{type="audio", mode="call", receiver_type="user"}'], 3)
    expect(Object.values(values).reduce((a, b) => a + b)).toBe(3)
  })

  test('evaluates only the matched value of a label that it also matches', () => {
    expect(documentedGroups({ by: ['type', 'mode'], match: { mode: 'call' } })).toEqual([
      { type: 'audio', mode: 'call' },
      { type: 'video', mode: 'call' },
    ])
    expect(documentedGroups({ by: ['type'], match: { type: 'other' } })).toEqual([{ type: 'other' }])
    const finished = [...times(2, at(0)), ...times(1, at(0), 'ended', labelled('video'))]
    expect(valuesOf({ ...CALLS, by: ['type'], match: { type: 'video' } }, finished)).toEqual({
      'Calls{type="video"}': 1,
    })
  })

  test('groups open calls and those of both kinds', () => {
    const poll = pollAt(at(0), { open: [openSince(at(-60), labelled('video'))], finished: times(1, at(0)) })
    const keysAndValues = (rule: Rule) => [...ruleValues(rule, poll, [])!.values()].map(({ value }) => value)
    expect(keysAndValues({ ...ruleOn({ name: 'in_progress' }), by: ['type'] })).toEqual([0, 1])
    expect(keysAndValues({ ...ruleOn({ name: 'calls_started', window: 900 }), by: ['type'] })).toEqual([1, 1])
  })

  test('raises one alert for each, and resolves the one of an undocumented value without calls', () => {
    const rule: Rule = { ...ruleOn({ name: 'in_progress' }, { name: 'Busy', threshold: 1 }), by: ['type'] }
    const target = evaluatedTarget([rule])
    const [audio, other] = [openSince(at(-60)), openSince(at(-60), labelled('other'))]
    target.evaluate(pollAt(at(0), { open: [audio, audio, other, other] }), at(0))
    target.evaluate(pollAt(at(15), { open: [audio, audio] }), at(15))
    expect(target.notifications.map(({ kind, key, labels, value }) => [kind, key, labels, value])).toEqual([
      ['firing', 'Busy{type="audio"}', { type: 'audio' }, 2],
      ['firing', 'Busy{type="other"}', { type: 'other' }, 2],
      ['resolved', 'Busy{type="other"}', { type: 'other' }, 0],
    ])
    expect([...target.instances.keys()]).toEqual(['Busy{type="audio"}'])
  })
})

describe('the labels of an alert are those of a group of its rule', () => {
  test.each<[string, Pick<Rule, 'by' | 'match'>, RuleLabels, boolean]>([
    ['that has none, without labels', { by: [], match: {} }, {}, true],
    ['that has none, with a label', { by: [], match: {} }, { type: 'audio' }, false],
    ['by another label', { by: ['type'], match: {} }, { mode: 'call' }, false],
    ['by that label', { by: ['type'], match: {} }, { type: 'audio' }, true],
    ['with an undocumented value', { by: ['type'], match: {} }, { type: 'other' }, true],
    ['with a value that never was', { by: ['type'], match: {} }, { type: 'hologram' }, false],
    ['by more labels', { by: ['type', 'mode'], match: {} }, { type: 'audio' }, false],
    ['by fewer labels', { by: ['type'], match: {} }, { type: 'audio', mode: 'call' }, false],
    ['that matches this value', { by: ['type'], match: { type: 'audio' } }, { type: 'audio' }, true],
    ['that matches another value', { by: ['type'], match: { type: 'video' } }, { type: 'audio' }, false],
    ['that matches another label', { by: ['type'], match: { mode: 'call' } }, { type: 'audio' }, true],
  ])('%s: %j %j %s', (_, rule, labels, expected) => {
    expect(isGroupOf(rule, labels)).toBe(expected)
  })

  test('and a reload after which they are not closes the alert, and does not resolve it', () => {
    const target = evaluatedTarget([{ ...CALLS, by: ['type'] }])
    target.evaluate(pollAt(at(0), { finished: times(3, at(0)) }), at(0))
    target.reload([{ ...CALLS, by: ['mode'] }])
    target.tick(at(15), 15)
    expect(target.notifications.slice(1)).toMatchObject([
      { kind: 'expired', expiredBecause: 'rule changed', key: 'Calls{type="audio"}', labels: { type: 'audio' } },
    ])
    expect(target.instances.size).toBe(0)
  })
})
