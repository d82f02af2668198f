import { expect, test } from 'vitest'
import { header, rateLimitRemaining, serviceClock } from '../../src/service/answer-headers.ts'

test('the first value of a header counts where there are several', () => {
  expect(header({ headers: { 'retry-after': ['5', '9'] } }, 'retry-after')).toBe('5')
  expect(header({ headers: { 'retry-after': [] } }, 'retry-after')).toBeUndefined()
  expect(header({ headers: {} }, 'retry-after')).toBeUndefined()
})

test.each([
  ['Fri, 20 Nov 2026 08:15:30 GMT', Date.UTC(2026, 10, 20, 8, 15, 30) / 1000],
  [undefined, undefined],
  ['', undefined],
  ['now', undefined],
  // Date.parse would make the year 2001 of it, and every time of every call would lie in the future.
  ['5', undefined],
  ['2026', undefined],
  ['Fri, 99 Nov 2026 08:15:30 GMT', undefined],
])('the service shows its clock by the header Date %j as %j', (date, seconds) => {
  expect(serviceClock({ headers: { date } })).toBe(seconds)
})

test.each([
  [{ 'x-rate-limit-remaining': '17' }, 17],
  [{ 'x-ratelimit-remaining': '17' }, 17],
  [{ 'x-rate-limit-remaining': ['3', '4'] }, 3],
  [{ 'x-rate-limit-remaining': '0' }, 0],
  [{ 'x-rate-limit-remaining': '1', 'x-ratelimit-remaining': '2' }, 1],
  [{ 'x-rate-limit-remaining': '-1' }, undefined],
  [{ 'x-rate-limit-remaining': 'many' }, undefined],
  [{ 'x-rate-limit-remaining': '' }, undefined],
  [{ 'x-rate-limit-remaining': 'Infinity' }, undefined],
  [{ 'x-rate-limit': '500' }, undefined],
  [{}, undefined],
])('requests left by %j: %j', (headers, remaining) => {
  expect(rateLimitRemaining({ headers })).toBe(remaining)
})

test.each([
  ['90', 90],
  [' 0 ', 0],
  ['-5', 0],
  ['soon', 0],
  ['1e3', 0],
])('an answer that a cache has kept for %j seconds was made so long ago: %i', (age, seconds) => {
  const date = 'Fri, 20 Nov 2026 08:15:30 GMT'
  expect(serviceClock({ headers: { date, age } })).toBe(Date.parse(date) / 1000 + seconds)
})
