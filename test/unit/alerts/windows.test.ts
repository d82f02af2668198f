import { describe, expect, test } from 'vitest'
import { ruleValues } from '../../../src/alerts/rule-value.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import type { Signal } from '../../../src/alerts/signals.ts'
import { labelled, openSince, times } from './sample-calls.ts'
import { finishAt, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { at, pollAt, type PartOfPoll } from './evaluated-target.ts'

const NOW = at(0)
const WEEK = { offset: 7 * 86_400, atLeast: 5 }
const WINDOWED: Signal[] = [
  { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 1 },
  { name: 'calls_finished', window: 900 },
  { name: 'minutes', window: 900, media: 'both' },
  { name: 'answer_delay_p95', window: 900, minCalls: 1 },
  { name: 'duration_mean', window: 900, minCalls: 1 },
  { name: 'short_calls', window: 900, shorterThan: 10, minCalls: 1 },
  { name: 'recorded', window: 900, offset: 0, minCalls: 1 },
  { name: 'not_joined', window: 900, minCalls: 1 },
  { name: 'calls_started', window: 900 },
]

/** A call that a window of any signal counts at this moment (UNIX seconds). */
const callAt = (time: number) =>
  finishAt(time, 'ended', { began: time, answerDelay: 3, duration: 0, invited: { joined: 1, absent: 1 } })

function ruleValueOf(rule: Rule, differing: PartOfPoll) {
  return ruleValues(rule, pollAt(NOW, differing), [])?.get(rule.name)
}

describe('the window of a rule', () => {
  test.each(WINDOWED)('on $name includes both of its ends, and nothing past them', (signal) => {
    const counted = [-900.001, -900, -450, 0, 0.001].map(
      (seconds) => ruleValueOf(ruleOn(signal), { finished: [callAt(at(seconds))] })?.calls,
    )
    expect(counted).toEqual([0, 1, 1, 1, 0])
  })

  test('on calls_started includes both of its ends for open calls as well', () => {
    const rule = ruleOn({ name: 'calls_started', window: 900 })
    const counted = [-900.001, -900, 0, 0.001].map(
      (seconds) => ruleValueOf(rule, { open: [openSince(at(seconds))] })?.calls,
    )
    expect(counted).toEqual([0, 1, 1, 0])
  })

  test.each(WINDOWED)('on $name starts no later than the previous successful poll', (signal) => {
    const counted = (previousSuccess: number) =>
      ruleValueOf(ruleOn(signal), { finished: [callAt(at(-5000))], previousSuccess })?.calls
    expect([at(-15), at(-4999.999), at(-5000), at(-9000)].map(counted)).toEqual([0, 0, 1, 1])
  })

  test('is not shortened by a recent successful poll', () => {
    const rule = ruleOn({ name: 'calls_finished', window: 900 })
    const finished = [callAt(at(-900)), callAt(at(-1))]
    expect(ruleValueOf(rule, { finished, previousSuccess: at(-15) })?.value).toBe(2)
  })
})

describe('the match of a rule', () => {
  const finished = [
    ...times(1, at(-1), 'rejected', labelled('audio', 'call', 'user')),
    ...times(2, at(-1), 'rejected', labelled('video', 'call', 'user')),
    ...times(4, at(-1), 'rejected', labelled('video', 'meet', 'group')),
    ...times(8, at(-1), 'rejected', labelled('other', 'other', 'other')),
  ]
  test.each<[Rule['match'], number]>([
    [{}, 15],
    [{ type: 'video' }, 6],
    [{ mode: 'call' }, 3],
    [{ receiver_type: 'group' }, 4],
    [{ type: 'video', mode: 'call' }, 2],
    [{ type: 'audio', mode: 'meet' }, 0],
    [{ type: 'other', mode: 'other', receiver_type: 'other' }, 8],
  ])('of %j leaves %d calls', (match, calls) => {
    for (const signal of WINDOWED.slice(0, 2)) {
      expect(ruleValueOf(ruleOn(signal, { match }), { finished })?.calls).toBe(calls)
    }
  })

  test('applies to open calls, and to the calls of the compared past', () => {
    const open = [openSince(at(-20)), openSince(at(-20), labelled('video'))]
    for (const signal of [{ name: 'in_progress' }, { name: 'stuck_calls', longerThan: 10 }] satisfies Signal[]) {
      expect(ruleValueOf(ruleOn(signal, { match: { type: 'video' } }), { open })?.value).toBe(1)
    }
    const compared = ruleOn({ name: 'calls_finished', window: 900 }, { match: { type: 'video' }, onlyIf: WEEK })
    const before = (type: 'audio' | 'video') => times(5, at(-7 * 86_400), 'ended', labelled(type))
    expect(ruleValueOf(compared, { finished: before('video') })?.mayBreach).toBe(true)
    expect(ruleValueOf(compared, { finished: before('audio') })?.mayBreach).toBe(false)
  })
})

describe('a rule that compares with the past', () => {
  const NO_CALLS = ruleOn({ name: 'calls_finished', window: 3600 }, { breach: 'below', threshold: 1, onlyIf: WEEK })

  test.each([
    [4, -7 * 86_400 - 1800, false, 'one call too few'],
    [5, -7 * 86_400 - 1800, true, 'as many as are asked for'],
    [5, -7 * 86_400, true, 'at the end of that window'],
    [5, -7 * 86_400 - 3600, true, 'at its beginning'],
    [5, -7 * 86_400 + 1, false, 'after it'],
    [5, -7 * 86_400 - 3601, false, 'before it'],
  ])('with %d calls then and the offset %d s has a breach: %s (%s)', (number, seconds, mayBreach) => {
    expect(ruleValueOf(NO_CALLS, { finished: times(number, at(seconds)) })).toMatchObject({ value: 0, mayBreach })
  })

  test('compares a window of its own length, however long ago the last poll was', () => {
    const finished = times(5, at(-7 * 86_400 - 10_000))
    expect(ruleValueOf(NO_CALLS, { finished, previousSuccess: at(-20_000) })?.mayBreach).toBe(false)
  })

  test.each([
    ['autumn', '2026-10-12T00:00:00Z', '2026-10-26T00:00:00Z'],
    ['spring', '2026-03-16T00:00:00Z', '2026-03-30T00:00:00Z'],
  ])('compares the same hours of an office in the week after the clocks changed in %s', (_season, began, from) => {
    const hours = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', hour: 'numeric', hourCycle: 'h23' })
    const [first, after] = [Date.parse(began) / 1000, Date.parse(from) / 1000]
    const calls = Array.from({ length: 3 * 7 * 288 }, (_, n) => first + n * 300).filter((time) => {
      const hour = Number(hours.format(time * 1000))
      return hour >= 7 && hour < 18
    })
    const finishes = calls.map((at) => finishAt(at))
    const breaches = (timezone: string) => {
      const rule = { ...NO_CALLS, signal: { name: 'calls_finished', window: 3600, timezone } } satisfies Rule
      // All days of a week are alike, but for the first and the last one.
      const days = [0, 6].map((day) => after + day * 86_400)
      const moments = days.flatMap((day) => Array.from({ length: 48 }, (_, n) => day + n * 1800))
      return moments.filter((now) => {
        const finished = finishes.filter(({ at }) => at <= now && at > now - 8 * 86_400)
        const polled = pollAt(now, { finished })
        const { value = 1, mayBreach } = ruleValues(rule, polled, [])?.get(rule.name) ?? {}
        return mayBreach && value < 1
      })
    }
    expect(breaches('Europe/Berlin')).toEqual([])
    expect(breaches('UTC').length).toBeGreaterThan(0)
  })

  test('compares each group with its own past', () => {
    const rule: Rule = { ...NO_CALLS, by: ['type'] }
    const values = ruleValues(rule, pollAt(NOW, { finished: times(5, at(-7 * 86_400)) }), [])!
    expect([...values].map(([key, { mayBreach }]) => [key, mayBreach])).toEqual([
      ['HighFailureRate{type="audio"}', true],
      ['HighFailureRate{type="video"}', false],
    ])
  })
})

describe('a limited poll', () => {
  const limited = { limited: true, finished: times(30, at(-1), 'rejected') }

  test.each(WINDOWED)('gives a rule on $name a verdict above its threshold, none below it', (signal) => {
    expect(ruleValueOf(ruleOn(signal), limited)).toBeDefined()
    expect(ruleValueOf(ruleOn(signal, { breach: 'below' }), limited)).toBeUndefined()
  })

  test('resets the poll age', () => {
    expect(ruleValueOf(ruleOn({ name: 'poll_age' }), limited)?.value).toBe(0)
  })
})
