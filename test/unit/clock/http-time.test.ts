import { expect, test } from 'vitest'
import { readRetryAfter } from '../../../src/clock/times.ts'

const NOW = Date.UTC(2026, 10, 20, 8, 15, 30) / 1000

test.each([
  ['0', 0],
  ['120', 120],
  [' 7 ', 7],
  ['Fri, 20 Nov 2026 08:15:30 GMT', 0],
  ['Fri, 20 Nov 2026 08:17:30 GMT', 120],
  ['Sat, 21 Nov 2026 08:15:30 GMT', 86_400],
])('Retry-After %j means to wait %d seconds', (value, seconds) => {
  expect(readRetryAfter(value, NOW)).toBe(seconds)
})

test('Retry-After with a past date means not to wait', () => {
  expect(readRetryAfter('Fri, 20 Nov 2026 08:15:29 GMT', NOW)).toBe(0)
  expect(readRetryAfter('Thu, 01 Jan 1970 00:00:00 GMT', NOW)).toBe(0)
})

test.each([
  undefined,
  '',
  'soon',
  '120s',
  '1e3',
  '0x10',
  'Fri, 99 Nov 2026 08:15:30 GMT',
  '-5',
  '1.5',
  '9'.repeat(400),
])('Retry-After %j is ignored', (value) => {
  expect(readRetryAfter(value, NOW)).toBeUndefined()
})
