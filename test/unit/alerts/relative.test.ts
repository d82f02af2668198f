import { describe, expect, test } from 'vitest'
import { definitionOf } from '../../../src/alerts/definition-of.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { replay } from '../../../src/alerts/replay.ts'
import { ruleValues } from '../../../src/alerts/rule-value.ts'
import { subjectOf } from '../../../src/alerts/alert.ts'
import { notificationOf } from '../../../src/alerts/notification.ts'
import { finishAt, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { detailsOf, summaryOf } from '../../../src/alerts/text/alert-text.ts'
import { evaluatedTarget, pollAt, START, type PartOfPoll } from './evaluated-target.ts'

const HOUR = 3600
const WEEK = 7 * 24 * HOUR
const relative = { window: HOUR, relativeTo: WEEK, minCallsThen: 10, timezone: 'UTC' }
const FEWER = ruleOn({ name: 'calls_finished', ...relative }, { breach: 'below', threshold: 0.5, clear: 0.6 })
const RATIO = ruleOn({ name: 'failure_ratio', reason: 'any', minCalls: 5, ...relative }, { threshold: 0.1 })
const DELAY = ruleOn({ name: 'answer_delay_p95', minCalls: 5, ...relative }, { threshold: 1.5 })

/** So many calls in the windows now, a week ago, two weeks ago and so on; the first of them failed. */
const weeks = (calls: readonly number[], failed: readonly number[] = [], answerDelay?: readonly number[]) =>
  calls.flatMap((n, week) =>
    Array.from({ length: n }, (_, i) =>
      finishAt(START - week * WEEK - 60, i < (failed[week] ?? 0) ? 'rejected' : 'ended', {
        answerDelay: answerDelay?.[week],
      }),
    ),
  )

const valueOf = (rule: Rule, given: PartOfPoll) => {
  const poll = pollAt(START, { previousSuccess: START - 15, ...given })
  return ruleValues(rule, poll, [])?.get(rule.name)
}

describe('a rule with `relative_to`', () => {
  test('has the ratio to the median of four weeks, of which one may be a holiday', () => {
    const finished = weeks([41, 96, 88, 3, 94])
    expect(valueOf(FEWER, { finished })).toMatchObject({
      value: 41 / 91,
      calls: 41,
      compared: { now: 41, earlier: [96, 88, 3, 94], expected: 91 },
      tooFew: false,
    })
  })

  test('has the difference of a share, which may be usual at 0, and the ratio of seconds', () => {
    const share = { finished: weeks([20, 20, 20, 20, 20], [5, 0, 0, 0, 0]) }
    expect(valueOf(RATIO, share)).toMatchObject({ value: 0.25, compared: { now: 0.25, expected: 0 }, tooFew: false })
    const delays = { finished: weeks([20, 20, 20, 20, 20], [], [9, 6, 6, 5, 7]) }
    expect(valueOf(DELAY, delays)).toMatchObject({ value: 1.5, compared: { now: 9, earlier: [6, 6, 5, 7] } })
  })

  test.each<[string, PartOfPoll]>([
    ['with few calls then', { finished: weeks([41, 9, 9, 9, 9]) }],
    ['in the first week of a target', { finished: weeks([41, 96, 88, 101, 94]), knownFrom: START - WEEK }],
    ['if the calls then were not read', { finished: weeks([41, 96, 88, 101, 94]), earlier: undefined }],
    ['at the first poll for longer than its window', { finished: weeks([41, 96]), previousSuccess: START - HOUR - 1 }],
  ])('has no result %s', (_when, given) => {
    expect(valueOf(FEWER, given)).toMatchObject({ value: NaN, tooFew: true })
  })

  test('leaves out the weeks in which callwatch did not see all calls, and has no result while that is so of now', () => {
    const { earlier } = pollAt(START, { finished: weeks([41, 96, 88, 101, 94]) })
    const withGap = (from: number, to: number) => {
      const finished = weeks([41, 96, 88, 101, 94])
      return valueOf(FEWER, { finished, earlier: { ...earlier!, gaps: [{ from, to }] } })
    }
    expect(withGap(START - WEEK - 100, START - WEEK - 90)?.compared?.earlier).toEqual([88, 101, 94])
    expect(withGap(-Infinity, START - 3 * WEEK)?.compared?.earlier).toEqual([96, 88])
    expect(withGap(START - 100, START - 90)).toMatchObject({ tooFew: true })
  })

  test('with `offset`, has no result until callwatch saw all of the earlier windows', () => {
    const signal = { name: 'recorded', offset: 1800, minCalls: 5, ...relative } as const
    const finished = weeks([20, 20, 20]).map((finish) => ({ ...finish, at: finish.at - 1800 }))
    const { earlier } = pollAt(START, { finished })
    const weeksSeen = (given: PartOfPoll) =>
      valueOf(ruleOn(signal, { breach: 'below', threshold: -0.1 }), { finished, ...given })?.compared?.earlier.length
    const [begin, end] = [START - 2 * WEEK - HOUR - 1800, START - 2 * WEEK - 1800]
    expect([weeksSeen({ knownFrom: begin }), weeksSeen({ knownFrom: begin + 1 })]).toEqual([2, 1])
    const withGap = (from: number, to: number) =>
      weeksSeen({ knownFrom: begin, earlier: { ...earlier!, gaps: [{ from, to }] } })
    expect([withGap(begin, begin + 1), withGap(end + 1, end + 2), withGap(begin - 2, begin - 1)]).toEqual([1, 2, 2])
  })

  test('is replayed with the times without polls that had ended by then', () => {
    const evaluatedAt = (now: number, previousSuccess: number) =>
      ({ kind: 'poll', at: now, now, previousSuccess, limited: false }) as const
    const values = (gaps: { from: number; to: number }[]) => {
      const finishes = weeks([41, 96, 88, 101, 94])
      const history = { evaluations: [evaluatedAt(START, START - 15)], finishes, sync: { created: 0 }, gaps }
      return replay(history, { target: 'production', rules: [FEWER], interval: 15 }).values.get(FEWER.name)
    }
    expect(values([{ from: START, to: START + 2 * 24 * HOUR }])).toHaveLength(1)
    expect(values([{ from: START - 10, to: START }])).toEqual([])
  })

  test('that had none when it fired compares neither its peak nor its threshold with those of before', () => {
    const { relativeTo: _, minCallsThen: _then, ...signal } = FEWER.signal
    const target = evaluatedTarget([{ ...FEWER, signal, threshold: 20, clear: 20 }])
    const poll = (seconds: number, calls: readonly number[], given: PartOfPoll = {}) => {
      const now = START + seconds
      target.evaluate(pollAt(now, { finished: weeks(calls), previousSuccess: now - 15, ...given }), now)
      return target.instances.get(FEWER.name)
    }
    poll(0, [0, 92, 92, 92, 92])
    target.reload([FEWER])
    poll(15, [12], { earlier: undefined })
    const instance = poll(30, [12], { earlier: undefined })!
    expect(summaryOf(notificationOf({ kind: 'firing' }, { target: 'a', instance }, START + 30))).toMatch(
      /^too few calls to compare since .*; before that, no call finished in the last 1h$/,
    )
    const lowest = { value: 0.25, peak: 0.25, values: [[START + 45, 0.25]] }
    expect(poll(45, [23, 92, 92, 92, 92])).toMatchObject(lowest)
    poll(60, [92, 92, 92, 92, 92])
    expect(target.notifications.at(-1)).toMatchObject({ kind: 'resolved', peak: 0.25, episode: { threshold: 0.5 } })
  })

  test('that had none when it fired says what fired when it expires without a result', () => {
    const target = evaluatedTarget([
      { ...FEWER, signal: { name: 'calls_finished', window: 60 }, threshold: 20, clear: 20 },
    ])
    const poll = (seconds: number) =>
      target.evaluate(pollAt(START + seconds, { previousSuccess: START + seconds - 15 }), START + seconds)
    poll(0)
    target.reload([{ ...FEWER, signal: { ...FEWER.signal, window: 60 } }])
    for (const seconds of [15, 30, 45, 60, 75]) poll(seconds)
    expect(target.notifications.slice(1).map(detailsOf)).toEqual([
      'too few calls. When last evaluated, no call finished in the last 1m',
    ])
  })

  test('measures another thing than a rule without', () => {
    const { relativeTo: _, ...signal } = FEWER.signal
    const measured = { labels: {}, match: {}, breach: 'below' } as const
    expect(subjectOf({ ...measured, signal: FEWER.signal })).not.toBe(subjectOf({ ...measured, signal }))
  })
})

describe('in words, a rule with `relative_to`', () => {
  const said = (rule: Rule, given: { value: number; now: number; earlier: number[] }) => {
    const { value, now, earlier } = given
    const message = { kind: 'firing', breach: rule.breach, value, threshold: rule.threshold } as const
    return definitionOf(rule.signal).describe({ ...message, compared: { now, earlier, expected: 0 } }, rule.signal)
  }

  test('says the value, by how much it differs from the usual, and what that was', () => {
    expect(said(FEWER, { value: 0.43, now: 41, earlier: [96, 88, 101, 94] })).toBe(
      'calls finished: 41 in the last 1h, 57% below the same time in the last 4 weeks (96, 88, 101, 94)',
    )
    expect(said(RATIO, { value: 0.3, now: 0.425, earlier: [0.125] })).toBe(
      'failure ratio: 42.5% in the last 1h, 30 points above the same time in the last week (12.5%)',
    )
    expect(said(DELAY, { value: 1.5, now: 9, earlier: [6, 5] })).toBe(
      'answer delay p95: 9s in the last 1h, 50% above the same time in the last 2 weeks (6s, 5s)',
    )
  })

  test.each<[Rule, string]>([
    [FEWER, 'calls finished in the last 1h: more than 50% below the same time in the last 4 weeks'],
    [RATIO, 'failure ratio in the last 1h: more than 10 points above the same time in the last 4 weeks'],
    [
      { ...DELAY, threshold: 0.9 },
      'answer delay p95 in the last 1h: less than 10% below the same time in the last 4 weeks',
    ],
    [
      { ...FEWER, signal: { ...FEWER.signal, relativeTo: 24 * HOUR } },
      'calls finished in the last 1h: more than 50% below the same time in the last 4 days',
    ],
    [
      { ...RATIO, breach: 'below', threshold: -0.1 },
      'failure ratio in the last 1h: more than 10 points below the same time in the last 4 weeks',
    ],
  ])('says when it fires: %#', (rule, words) => {
    expect(definitionOf(rule.signal).inWords({ ...rule })).toBe(words)
  })
})
