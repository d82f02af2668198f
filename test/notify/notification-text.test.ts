import { describe, expect, test } from 'vitest'
import type { Notification } from '../../src/alerts/notification.ts'
import {
  descriptionOf,
  formatSeconds,
  formatTime,
  formatValue,
  splitOf,
  summaryOf,
} from '../../src/notify/notification-text.ts'
import { AT, FIRING, NO_POLL, POLLS_AGAIN, REMOVED, RESOLVED, TOO_FEW } from './sample.ts'

describe('the summary says value against threshold, and the calls behind it', () => {
  const counts = { ended: 0, unanswered: 1, rejected: 0, canceled: 0, other: 0, total: 1 }
  const hundred = { ended: 71, unanswered: 29, rejected: 0, canceled: 0, other: 0, total: 100 }

  test.each<[Notification, string]>([
    [FIRING, '17 of 40 calls that finished in the last 15m failed: 42.5 %, above the threshold of 30 %'],
    [
      { ...FIRING, reason: 'rejected', value: 0.3, threshold: 0.25 },
      '12 of 40 calls that finished in the last 15m were rejected: 30 %, above the threshold of 25 %',
    ],
    [
      { ...FIRING, value: 1, window: 5400, counts },
      '1 of 1 call that finished in the last 1h 30m failed: 100 %, above the threshold of 30 %',
    ],
    // 0.29 × 100 is a little less than 29.
    [
      { ...FIRING, value: 0.29, threshold: 0.25, counts: hundred },
      '29 of 100 calls that finished in the last 15m failed: 29 %, above the threshold of 25 %',
    ],
    [RESOLVED, '4 of 40 calls that finished in the last 15m failed: 10 %, back at or below 20 %'],
    [
      TOO_FEW,
      '17 of 40 calls that finished in the last 15m failed: 42.5 % when last judged; closed: too few calls (not resolved)',
    ],
    [
      REMOVED,
      '17 of 40 calls that finished in the last 15m failed: 42.5 % when last judged; closed: rule removed (not resolved)',
    ],
    [NO_POLL, 'no good poll for 5m 12s, above the threshold of 5m'],
    [POLLS_AGAIN, 'polls are good again, the last one 0s ago'],
    [
      { ...NO_POLL, kind: 'closed', closedBecause: 'rule removed' },
      'no good poll for 5m 12s when last judged; closed: rule removed (not resolved)',
    ],
  ])('%#: $1', (notification, summary) => {
    expect(summaryOf(notification)).toBe(summary)
  })
})

describe('the description', () => {
  test('has its placeholders filled in', () => {
    const description = '{value} > {threshold} of {calls} in {window} ({labels}), twice {value}'
    expect(descriptionOf({ ...FIRING, description })).toBe(
      '42.5 % > 30 % of 40 in 15m (target=production), twice 42.5 %',
    )
    expect(descriptionOf({ ...NO_POLL, description })).toBe('5m 12s > 5m of 0 in 0s (target=production), twice 5m 12s')
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
    expect(descriptionOf(NO_POLL)).toBeUndefined()
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
  [86_400, '1d'],
  [98_000, '1d 3h'],
  [30 * 86_400, '30d'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text)
})

test.each([
  ['failure_ratio', 0, '0 %'],
  ['failure_ratio', 0.4251, '42.5 %'],
  ['failure_ratio', 1 / 3, '33.3 %'],
  ['failure_ratio', 1, '100 %'],
  ['poll_age', 330, '5m 30s'],
] as const)('a %s of %d is %s', (signal, value, text) => {
  expect(formatValue({ signal }, value)).toBe(text)
})

test('a time is in UTC, whatever the time zone of the host', () => {
  expect(formatTime(AT + 0.9)).toBe('2026-11-20 08:15:30 UTC')
})

test('the split shows failures by number first, then what ended well, and others only where there are any', () => {
  expect(splitOf(FIRING)).toBe('rejected 12, unanswered 5, canceled 0, ended 23')
  const counts = { ended: 1, unanswered: 0, rejected: 0, canceled: 2, other: 3, total: 6 }
  expect(splitOf({ ...FIRING, counts })).toBe('canceled 2, unanswered 0, rejected 0, ended 1, other 3')
  expect(splitOf(NO_POLL)).toBeUndefined()
})
