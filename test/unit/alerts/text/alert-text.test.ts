import { describe, expect, test } from 'vitest'
import type { Notification } from '../../../../src/alerts/notification.ts'
import type { Signal } from '../../../../src/alerts/signals.ts'
import { factsOf } from '../../../../src/notifications/text/alert-facts.ts'
import { formatSeconds, formatTime } from '../../../../src/text/format.ts'
import {
  callsLookedAt,
  descriptionOf,
  formatValue,
  ruleText,
  splitOf,
  summaryOf,
  titleOf,
} from '../../../../src/alerts/text/alert-text.ts'
import {
  AT,
  FIRING,
  NO_POLL,
  POLLS_AGAIN,
  REMOVED,
  RESOLVED,
  SIGNALS,
  TOO_FEW,
} from '../../../kit/notifications/sample.ts'

const {
  calls_finished: NO_CALLS,
  calls_started: STARTED,
  minutes: MINUTES,
  in_progress: OPEN,
  answer_delay_p95: DELAY,
  duration_mean: DURATION,
  stuck_calls: STUCK,
  budget_minutes: BUDGET,
} = SIGNALS

/** It resolved after an hour. */
function over(notification: Notification, given: Partial<Notification>): Notification {
  return { ...notification, kind: 'resolved', firingSince: AT - 3600, ...given }
}

describe('the summary says value against threshold, and the calls behind it', () => {
  const counts = { ended: 0, unanswered: 1, rejected: 0, canceled: 0, other: 0, total: 1 }
  const hundred = { ended: 71, unanswered: 29, rejected: 0, canceled: 0, other: 0, total: 100 }
  const longWindow: Signal = { name: 'failure_ratio', reason: 'any', window: 5400, minCalls: 1 }

  test.each<[Notification, string]>([
    [FIRING, '17 of 40 calls that finished in the last 15m failed: 42.5%, above the threshold of 30%'],
    [
      SIGNALS.failure_ratio,
      '12 of 40 calls that finished in the last 15m were rejected: 30%, above the threshold of 25%',
    ],
    [
      { ...FIRING, value: 1, signal: longWindow, calls: 1, counts },
      '1 of 1 call that finished in the last 1h 30m failed: 100%, above the threshold of 30%',
    ],
    // 0.29 × 100 is a little less than 29.
    [
      { ...FIRING, value: 0.29, threshold: 0.25, calls: 100, counts: hundred },
      '29 of 100 calls that finished in the last 15m failed: 29%, above the threshold of 25%',
    ],
    [NO_CALLS, 'no call finished in the last 1h'],
    [{ ...NO_CALLS, threshold: 5 }, 'no call finished in the last 1h, below the threshold of 5'],
    [{ ...NO_CALLS, value: 1, threshold: 5 }, '1 call finished in the last 1h, below the threshold of 5'],
    [STARTED, '1,204 calls began in the last 15m, above the threshold of 1,000'],
    [MINUTES, '12 calls that finished in the last 1h had 310.5 min of video, above the threshold of 300 min'],
    [
      { ...MINUTES, signal: { name: 'minutes', window: 60, media: 'both' }, breach: 'below', value: 0, calls: 0 },
      'no call finished in the last 1m: 0 min of audio and video, below the threshold of 300 min',
    ],
    [
      { ...MINUTES, breach: 'below', value: 0, calls: 0, threshold: 1 },
      'no call finished in the last 1h: 0 min of video, below the threshold of 1 min',
    ],
    [OPEN, '112 calls are open now, above the threshold of 100'],
    [{ ...OPEN, breach: 'below', value: 0, threshold: 1 }, 'no call is open now'],
    [{ ...OPEN, value: 1, threshold: 0 }, '1 call is open now, above the threshold of 0'],
    [
      DELAY,
      'answer delay of 36 answered calls that finished in the last 15m: 42s at the 95th percentile, above the threshold of 30s',
    ],
    [DURATION, 'mean duration of 80 calls that ended in the last 1h: 45s, below the threshold of 1m'],
    [
      SIGNALS.short_calls,
      '32 of 80 calls that ended in the last 1h lasted less than 10s: 40%, above the threshold of 30%',
    ],
    [
      SIGNALS.recorded,
      '72 of 80 calls that ended in the 1h before the last 30m had a recording: 90%, below the threshold of 95%',
    ],
    [
      SIGNALS.not_joined,
      '60% of the people invited to 24 calls that finished in the last 30m did not join, above the threshold of 50%',
    ],
    [
      { ...STUCK, signal: { name: 'stuck_calls', status: 'initiated', longerThan: 300 } },
      '3 calls have been ringing for longer than 5m',
    ],
    [STUCK, '3 calls have been open for longer than 3h'],
    [{ ...STUCK, value: 1 }, '1 call has been open for longer than 3h'],
    [{ ...STUCK, threshold: 2 }, '3 calls have been open for longer than 3h, above the threshold of 2'],
    [NO_POLL, 'no successful poll for 5m 12s, above the threshold of 5m'],
    [
      BUDGET,
      '81,204 of 100,000 participant minutes of this month are used, 95,310 as duration × who joined: 81.2%, ' +
        'above the threshold of 80%',
    ],
    [
      { ...BUDGET, signal: { name: 'budget_minutes', limit: 100_000, of: 'duration', timezone: 'UTC', cycleDay: 1 } },
      '81,204 of 100,000 user minutes of this month are used, 95,310 as the sum over participants: 81.2%, ' +
        'above the threshold of 80%',
    ],
  ])('while it fires, %#: $1', (notification, summary) => {
    expect(summaryOf(notification)).toBe(summary)
  })

  test.each<[Notification, string]>([
    [
      RESOLVED,
      '4 of 40 calls that finished in the last 15m failed: 10%, back at or below 20%; peak 62.5%, lasted 1h 3m',
    ],
    [
      over(NO_CALLS, { value: 6, threshold: 5, peak: 0 }),
      '6 calls finished in the last 1h, back at or above 5; lowest 0 calls, lasted 1h',
    ],
    [over(STUCK, { value: 0, peak: 4 }), 'no call has been open for longer than 3h; peak 4 calls, lasted 1h'],
    [POLLS_AGAIN, 'polls succeed again; longest gap 15m 5s, lasted 10m'],
    [
      over(BUDGET, { value: 0.00004, peak: 1.02, otherMinutes: 5 }),
      '4 of 100,000 participant minutes of this month are used, 5 as duration × who joined: 0%, back at or below 80%; ' +
        'peak 102% (102,000 of 100,000 min), lasted 1h',
    ],
  ])('once it is resolved also the worst value and how long it lasted, %#: $1', (notification, summary) => {
    expect(summaryOf(notification)).toBe(summary)
  })

  test.each<[Notification, string]>([
    [
      TOO_FEW,
      'expired, not resolved: too few calls. When last evaluated, 17 of 40 calls that finished in the last 15m failed: 42.5%',
    ],
    [
      REMOVED,
      'expired, not resolved: rule removed. When last evaluated, 17 of 40 calls that finished in the last 15m failed: 42.5%',
    ],
    [
      { ...NO_POLL, kind: 'expired', expiredBecause: 'target removed' },
      'expired, not resolved: target removed. When last evaluated, no successful poll for 5m 12s',
    ],
    [
      { ...NO_POLL, kind: 'expired', expiredBecause: 'rule removed', value: 42 },
      'expired, not resolved: rule removed. When last evaluated, no successful poll for 42s',
    ],
  ])('of an expired one why, and that it is not known how it continued, %#: $1', (notification, summary) => {
    expect(summaryOf(notification)).toBe(summary)
  })
})

describe('the summary says nothing wrong', () => {
  test.each<[string, Notification, RegExp]>([
    [
      'of a value that is within the threshold again',
      { ...FIRING, value: 0.25 },
      /, no longer above .* 30%, but not resolved yet$/,
    ],
    [
      'of a value at the threshold',
      { ...FIRING, value: 0.3 },
      /, no longer above the threshold of 30%, but not resolved yet$/,
    ],
    ['of calls that come again', { ...NO_CALLS, value: 3 }, /^3 calls .*, no longer below the threshold of 1, but not/],
    ['of stuck calls that have ended', { ...STUCK, value: 0 }, /^no call .* than 3h, but not resolved yet$/],
    ['of polls that are good again', { ...NO_POLL, value: 0 }, /^polls succeed again, but not resolved yet$/],
    [
      'of a value that only rounding makes equal',
      { ...FIRING, value: 0.3001 },
      /: 30%, just above the threshold of 30%$/,
    ],
    ['of a value that is lost', { ...FIRING, value: NaN }, /: unknown, /],
  ])('%s', (_case, notification, summary) => {
    expect(summaryOf(notification)).toMatch(summary)
  })
})

test('missing polls are so since the last successful one', () => {
  const [since] = factsOf({ ...NO_POLL, lastPoll: AT - 312 }, AT)
  expect(since).toEqual(['Since', `${formatTime(AT - 312)} (5m 12s)`])
})

describe('the description', () => {
  test('has its placeholders filled in', () => {
    const description = '{value} > {threshold} of {calls} in {window} ({labels}), twice {value}'
    expect(descriptionOf({ ...SIGNALS.failure_ratio, description })).toBe(
      '30% > 25% of 40 in 15m (type=video, mode=call), twice 30%',
    )
    expect(descriptionOf({ ...STUCK, description })).toBe(
      '3 calls > 0 calls of 3 in 3h (target=production), twice 3 calls',
    )
    expect(descriptionOf({ ...NO_POLL, description })).toBe(
      '5m 12s > 5m of n/a in n/a (target=production), twice 5m 12s',
    )
  })

  test.each(['{unknown}', '{constructor}', '{__proto__}', '{ value }', '{}', '{', '$& $1', '{value'])(
    'keeps %j as it is',
    (description) => {
      expect(descriptionOf({ ...FIRING, description })).toBe(description)
    },
  )

  test('fills nothing into what it has filled in', () => {
    expect(descriptionOf({ ...FIRING, target: '{value} $&', description: '{labels}' })).toBe('target={value} $&')
  })

  test('may be missing', () => {
    expect(descriptionOf(STUCK)).toBeUndefined()
  })
})

test.each([
  [0, '0s'],
  [0.4, '0s'],
  [-5, '0s'],
  [45, '45s'],
  [59.6, '1m'],
  [60, '1m'],
  [90, '1m 30s'],
  [3600, '1h'],
  [5400, '1h 30m'],
  [5415, '1h 30m'],
  [14_411, '4h'],
  [86_460, '1d'],
  [86_400, '1d'],
  [98_000, '1d 3h'],
  [30 * 86_400, '30d'],
  [NaN, 'unknown'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text)
})

test.each<[Notification, number, string]>([
  [FIRING, 0, '0%'],
  [FIRING, 0.4251, '42.5%'],
  [FIRING, 1 / 3, '33.3%'],
  [FIRING, 1, '100%'],
  [FIRING, -0.0001, '0%'],
  [NO_CALLS, 0, '0 calls'],
  [STARTED, 1, '1 call'],
  [OPEN, 12, '12 calls'],
  [STUCK, 12_345, '12,345 calls'],
  [MINUTES, 310, '310 min'],
  [MINUTES, 1310.25, '1,310.3 min'],
  [DELAY, 330, '5m 30s'],
  [DURATION, 45, '45s'],
  [NO_POLL, 330, '5m 30s'],
  [BUDGET, 0.81204, '81.2% (81,204 of 100,000 min)'],
  [FIRING, NaN, 'unknown'],
])('%#: a value is %d, in words %s', (notification, value, text) => {
  expect(formatValue(notification, value)).toBe(text)
})

test('a time is in UTC, whatever the time zone of the host, and need not be one', () => {
  expect(formatTime(AT + 0.9)).toBe('2026-11-20 08:15:30 UTC')
  expect([formatTime(NaN), formatTime(1e300)]).toEqual(['an unknown time', 'an unknown time'])
})

test('the title of an alert differs from its siblings, and its calls are those of rule and group', () => {
  expect([titleOf(FIRING), callsLookedAt(FIRING)]).toEqual(['HighFailureRate', ''])
  const { failure_ratio: grouped } = SIGNALS
  expect([titleOf(grouped), callsLookedAt(grouped)]).toEqual(['VideoRejected (type=video)', 'type=video, mode=call'])
})

test('the split shows failures by number first, then what ended well, and others only where there are any', () => {
  expect(splitOf(FIRING)).toBe('rejected 12, unanswered 5, canceled 0, ended 23')
  const counts = { ended: 1200, unanswered: 0, rejected: 0, canceled: 2, other: 3, total: 1205 }
  expect(splitOf({ ...FIRING, counts })).toBe('canceled 2, unanswered 0, rejected 0, ended 1,200, other 3')
  expect(splitOf(NO_POLL)).toBeUndefined()
})

test('a rule is said in plain words', () => {
  const words = Object.values(SIGNALS).map((each) => ruleText({ ...each, for: 0 }))
  expect(words).toMatchInlineSnapshot(`
    [
      "more than 25% of the ringing calls in the last 15m were rejected (at least 20 calls, with 95% confidence)",
      "no call finished in the last 1h",
      "more than 1,000 calls began in the last 15m",
      "calls that finished in the last 1h had more than 300 min of video",
      "more than 100 calls open at once",
      "one in twenty calls in the last 15m was answered after more than 30s",
      "calls that ended in the last 1h lasted less than 1m on average",
      "more than 30% of the calls that ended in the last 1h lasted less than 10s (at least 10 calls)",
      "less than 95% of the calls that ended in the 1h before the last 30m had a recording (at least 20 calls)",
      "more than 50% of the people invited to calls in the last 30m did not join (at least 20 calls)",
      "a call open for longer than 3h",
      "no successful poll for 5m",
      "more than 25% of the requests to the calls service in the last 15m failed",
      "more than 80% of the 100,000 participant minutes of a month used",
    ]
  `)
  expect(ruleText({ ...STUCK, for: 300 })).toBe('a call open for longer than 3h, for 5m')
  expect(ruleText({ ...NO_CALLS, for: 0, threshold: 10 })).toBe('fewer than 10 calls finished in the last 1h')
})
