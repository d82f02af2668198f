import { earlierReach } from '../../../src/alerts/relative.ts'
import { describe, expect, test } from 'vitest'
import { evidenceOf, reachOf } from '../../../src/alerts/evidence.ts'
import { ruleValues } from '../../../src/alerts/rule-value.ts'
import type { RuleLabels } from '../../../src/alerts/groups.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { labelled, openSince, times } from './sample-calls.ts'
import { finishAt, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { at, pollAt, evaluatedTarget, type PartOfPoll } from './evaluated-target.ts'

const WINDOW = 900
const NOW = at(0)

/** The evidence for the value of a rule, after a poll that showed these calls. */
function evidence(rule: Rule, differing: PartOfPoll, labels: RuleLabels = {}, value = 0.5) {
  return evidenceOf(rule, { labels, value }, pollAt(NOW, differing))
}

const failed = (number: number, ...labels: Parameters<typeof labelled>) =>
  times(number, at(-1), 'rejected', labelled(...labels))
const went = (number: number, ...labels: Parameters<typeof labelled>) =>
  times(number, at(-1), 'ended', labelled(...labels))

test('a rule reads its window, those of its trend, and those that it compares with, whose days may have an hour more', () => {
  const week = { offset: 7 * 86_400, atLeast: 5 }
  expect(reachOf(RATIO)).toBe(8 * WINDOW)
  expect(earlierReach(RATIO)).toBe(0)
  expect(earlierReach({ ...RATIO, onlyIf: week })).toBe(WINDOW + 7 * 86_400 + 3600)
  const relative = { ...RATIO.signal, relativeTo: 7 * 86_400 }
  expect(earlierReach({ ...RATIO, signal: relative })).toBe(WINDOW + 28 * 86_400 + 3600)
})

describe('the top contributor of an alert', () => {
  test('is the label value with a larger share of the failures than of the calls', () => {
    const finished = [...failed(2, 'audio'), ...went(8, 'audio'), ...failed(9, 'video'), ...went(3, 'video')]
    expect(evidence(RATIO, { finished }).contributor).toEqual({
      label: 'type',
      value: 'video',
      failures: 9,
      ofFailures: 11,
      calls: 12,
      ofCalls: 22,
    })
  })

  test('is the most specific of all labels', () => {
    const finished = [
      ...failed(4, 'audio', 'call', 'user'),
      ...failed(3, 'video', 'call', 'group'),
      ...failed(3, 'video', 'meet', 'user'),
      ...went(10, 'audio', 'call', 'group'),
    ]
    const { contributor } = evidence(RATIO, { finished })
    // Videos are as bad, but fewer.
    expect(contributor).toEqual({
      label: 'receiver_type',
      value: 'user',
      failures: 7,
      ofFailures: 10,
      calls: 7,
      ofCalls: 20,
    })
  })

  test.each<[string, Partial<Rule>]>([
    ['matches', { match: { type: 'video' } }],
    ['is grouped by', { by: ['type'] }],
  ])('is never of a label that the rule %s', (_, differing) => {
    const [user, group] = [
      ['video', 'call', 'user'],
      ['video', 'call', 'group'],
    ] as const
    const finished = [...failed(9, ...user), ...failed(2, ...group), ...went(9, ...group)]
    expect(evidence({ ...RATIO, ...differing }, { finished }, { type: 'video' }).contributor).toMatchObject({
      label: 'receiver_type',
      value: 'user',
    })
  })

  test('is never the mode: only calls that ring can fail', () => {
    const finished = [...failed(9, 'video', 'call'), ...went(9, 'video', 'meet')]
    expect(evidence(RATIO, { finished }).contributor).toBeUndefined()
  })

  test('is absent if every label has one value, or the rule leaves only one', () => {
    const finished = [...failed(10), ...went(10)]
    expect(evidence(RATIO, { finished }).contributor).toBeUndefined()
    const mixed = [...finished, ...failed(20, 'video')]
    expect(evidence(RATIO, { finished: mixed }).contributor).toMatchObject({ label: 'type', value: 'video' })
    expect(evidence({ ...RATIO, match: { type: 'audio' } }, { finished: mixed }).contributor).toBeUndefined()
  })

  test('is absent if nothing failed for the reason of the rule', () => {
    const finished = [...failed(10, 'audio'), ...went(10, 'video')]
    const signal = { ...RATIO.signal, reason: 'unanswered' } as const
    expect(evidence({ ...RATIO, signal }, { finished }).contributor).toBeUndefined()
    const unanswered = times(6, at(-1), 'unanswered', labelled('video'))
    expect(evidence({ ...RATIO, signal }, { finished: [...finished, ...unanswered] }).contributor).toMatchObject({
      value: 'video',
      failures: 6,
      ofFailures: 6,
    })
  })

  test.each([
    [
      'fails as the others do',
      [...failed(12, 'video'), ...went(18, 'video'), ...failed(4, 'audio'), ...went(6, 'audio')],
    ],
    ['fails, and is a single call', [...failed(1, 'video'), ...failed(19, 'audio'), ...went(900, 'audio')]],
    ['fails more often, which may be chance', [...failed(1, 'video'), ...failed(4, 'audio'), ...went(15, 'audio')]],
  ])('is absent where a label value %s', (_, finished) => {
    expect(evidence(RATIO, { finished }).contributor).toBeUndefined()
  })

  test('is absent for a signal that is not about failures', () => {
    const finished = [...failed(10, 'audio'), ...went(10, 'video')]
    expect(evidence(ruleOn({ name: 'calls_finished', window: WINDOW }), { finished }).contributor).toBeUndefined()
  })

  test('counts calls of the group of the alert that match the rule', () => {
    const finished = [
      ...failed(3, 'video', 'call', 'user'),
      ...failed(1, 'video', 'call', 'group'),
      ...went(20, 'video', 'call', 'group'),
      ...failed(90, 'audio', 'call', 'group'),
    ]
    expect(evidence({ ...RATIO, by: ['type'] }, { finished }, { type: 'video' }).contributor).toEqual({
      label: 'receiver_type',
      value: 'user',
      failures: 3,
      ofFailures: 4,
      calls: 3,
      ofCalls: 24,
    })
  })

  test('counts the same failures as the value, also after a long time without polls', () => {
    const longAgo = (number: number, type: 'audio' | 'video') => times(number, at(-5000), 'rejected', labelled(type))
    const finished = [...longAgo(12, 'video'), ...longAgo(3, 'audio'), ...went(10, 'audio')]
    const poll = pollAt(NOW, { finished, previousSuccess: at(-6000) })
    const target = evaluatedTarget([RATIO])
    target.evaluate(poll, NOW)
    expect(target.notifications).toMatchObject([
      { value: 0.6, counts: { rejected: 15 }, contributor: { value: 'video', failures: 12, ofFailures: 15 } },
    ])
    expect(target.notifications[0]!.trend?.at(-1)).toBe(0.6)
  })

  test('is absent for three calls, which are noise', () => {
    const target = evaluatedTarget([RATIO])
    target.evaluate(pollAt(at(0), { finished: [...failed(10, 'audio'), ...went(10, 'video')] }), at(0))
    const few = [finishAt(at(1000), 'rejected'), finishAt(at(1000), 'ended', labelled('video'))]
    for (let seconds = 1000; seconds <= 1900; seconds += 15) {
      target.evaluate(pollAt(at(seconds), { finished: few }), at(seconds))
    }
    expect(target.notifications).toMatchObject([{ kind: 'firing', contributor: {} }, { kind: 'expired' }])
    expect(target.notifications[1]!.contributor).toBeUndefined()
  })
})

describe('the trend of an alert', () => {
  const window = (number: number, ended: number, rejected: number) => [
    ...times(ended, at(-number * WINDOW - 450)),
    ...times(rejected, at(-number * WINDOW - 450), 'rejected'),
  ]

  test('is of eight windows, the oldest first, with null where there were too few calls for a ratio', () => {
    const finished = [
      ...window(8, 0, 50),
      ...window(7, 20, 0),
      ...window(6, 15, 5),
      ...window(5, 3, 3),
      ...window(3, 10, 10),
      ...window(2, 9, 10),
      ...window(1, 10, 30),
      ...window(0, 0, 20),
    ]
    expect(evidence(RATIO, { finished }).trend).toEqual([0, 0.25, null, null, 0.5, null, 0.75, 1])
  })

  test('of a number of calls has a 0 where there were none', () => {
    const rule = ruleOn({ name: 'calls_finished', window: WINDOW })
    const finished = [...window(7, 1, 0), ...window(1, 2, 1), ...window(0, 4, 0)]
    expect(evidence(rule, { finished }).trend).toEqual([1, 0, 0, 0, 0, 0, 3, 4])
  })

  test('of calls_started includes open calls', () => {
    const rule = ruleOn({ name: 'calls_started', window: WINDOW })
    const finished = [finishAt(at(-10), 'ended', { began: at(-2000) })]
    const open = [openSince(at(-2000)), openSince(at(-5))]
    expect(evidence(rule, { finished, open }).trend).toEqual([0, 0, 0, 0, 0, 2, 0, 1])
  })

  test('is of the group of the alert', () => {
    const rule: Rule = { ...ruleOn({ name: 'calls_finished', window: WINDOW }), by: ['type'], match: { mode: 'call' } }
    const finished = [...went(3, 'video', 'call'), ...went(5, 'audio', 'call'), ...went(7, 'video', 'meet')]
    expect(evidence(rule, { finished }, { type: 'video' }).trend?.at(-1)).toBe(3)
  })

  test('ends with the value of the notification', () => {
    const finished = [...window(0, 7, 13), finishAt(at(0), 'rejected'), finishAt(at(-WINDOW), 'rejected')]
    const value = ruleValues(RATIO, pollAt(NOW, { finished }), [])!.get(RATIO.name)!.value
    expect(evidence(RATIO, { finished }).trend?.at(-1)).toBe(value)
  })

  test.each<Rule['signal']>([{ name: 'in_progress' }, { name: 'poll_age' }])(
    'of $name is absent, because it has no window',
    (signal) => {
      expect(evidence(ruleOn(signal), { open: [openSince(at(-100))] })).toEqual({})
    },
  )
})

test('calls that are open for too long are explained with the oldest of those that match', () => {
  const rule: Rule = { ...ruleOn({ name: 'stuck_calls', longerThan: 60 }), match: { type: 'video' } }
  const video = (seconds: number) => openSince(at(-seconds), labelled('video'))
  const open = [video(100), video(200), openSince(at(-300)), video(5)]
  const { oldest } = evidence(rule, { open })
  expect(oldest).toEqual({ session: open[1]!.id, began: at(-200) })
  expect(evidence(rule, { open: [] })).toEqual({})
})

test('a budget is explained with the minutes by the other formula, if they are known', () => {
  const used = { participants: 40, duration: 50 }
  const minutes = (of: 'participants' | 'duration', duration = 50) =>
    evidence(ruleOn({ name: 'budget_minutes', limit: 100, of, timezone: 'UTC', cycleDay: 1 }), {
      knownFrom: NOW,
      usedSince: (_time, formula) => ({ ...used, duration })[formula],
    })
  expect([minutes('participants'), minutes('duration')]).toEqual([{ otherMinutes: 50 }, { otherMinutes: 40 }])
  expect(minutes('participants', NaN)).toEqual({})
})

describe('the forecast of a budget', () => {
  const november = Date.UTC(2026, 10, 1) / 1000
  const forecast = (seconds: number, value: number, { timezone = 'UTC', created = 0 } = {}) =>
    evidenceOf(
      ruleOn({ name: 'budget_minutes', limit: 1000, of: 'participants', timezone, cycleDay: 1 }),
      { labels: {}, value },
      pollAt(november + seconds, { knownFrom: created, usedSince: () => NaN }),
    )

  test.each([
    [15 * 86_400, 0.5, 1],
    [10 * 86_400, 0.5, 1.5],
    [30 * 86_400 - 1, 0.9, 0.9],
  ])('%d s into a month of thirty days, of which %d of the limit is used, comes to %d', (seconds, value, expected) => {
    expect(forecast(seconds, value)).toEqual({ forecast: expect.closeTo(expected, 4) })
  })

  test('is absent on the first day of a month, which is too short', () => {
    expect(forecast(86_399, 0.5)).toEqual({})
    expect(forecast(86_400, 0.5)).toEqual({ forecast: expect.closeTo(15, 9) })
  })

  test('uses the days that were counted, in the month in which the target was created', () => {
    const created = november + 20 * 86_400
    expect(forecast(25 * 86_400, 0.5, { created })).toEqual({ forecast: expect.closeTo(1, 9) })
    expect(forecast(20.5 * 86_400, 0.1, { created })).toEqual({})
  })

  test('uses the month of the rule’s time zone', () => {
    // In New York it is still eight in the evening of the last day of October.
    const october = Date.UTC(2026, 9, 1, 4) / 1000
    const share = (31 * 86_400) / (november - october)
    expect(forecast(0, 0.5, { timezone: 'America/New_York' })).toEqual({ forecast: expect.closeTo(0.5 * share, 9) })
  })
})
