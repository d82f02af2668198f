import { expect, test } from 'vitest'
import { header, rateLimitWindow, serviceClock } from '../../../src/service/answer-headers.ts'

test('the first of several values of a header counts', () => {
  expect(header({ headers: { 'retry-after': ['5', '9'] } }, 'retry-after')).toBe('5')
  expect(header({ headers: { 'retry-after': [] } }, 'retry-after')).toBeUndefined()
  expect(header({ headers: {} }, 'retry-after')).toBeUndefined()
})

test.each([
  ['Fri, 20 Nov 2026 08:15:30 GMT', Date.UTC(2026, 10, 20, 8, 15, 30) / 1000],
  [undefined, undefined],
  ['', undefined],
  ['now', undefined],
  // Date.parse would return the year 2001.
  ['5', undefined],
  ['2026', undefined],
  ['Fri, 99 Nov 2026 08:15:30 GMT', undefined],
])('the clock of the service by the header Date %j is %j', (date, seconds) => {
  expect(serviceClock({ headers: { date } })).toBe(seconds)
})

const NOW = 1_790_000_000

test.each<[Record<string, string | string[]>, number | undefined, (number | undefined)?, number?]>([
  [{ 'x-rate-limit-remaining': '17' }, 17],
  [{ 'x-ratelimit-remaining': '17' }, 17],
  [{ 'ratelimit-remaining': '17' }, 17],
  [{ 'x-rate-limit-remaining': ['3', '4'] }, 3],
  [{ 'x-rate-limit-remaining': '0' }, 0],
  [{ 'x-rate-limit-remaining': '1', 'x-ratelimit-remaining': '2' }, 1],
  [{ 'x-rate-limit-remaining': '-1' }, undefined],
  [{ 'x-rate-limit-remaining': 'many' }, undefined],
  [{ 'x-rate-limit-remaining': '' }, undefined],
  [{ 'x-rate-limit-remaining': 'Infinity' }, undefined],
  [{ 'x-rate-limit': '500' }, undefined],
  [{}, undefined],
  [{ 'x-rate-limit-remaining': '17', 'x-rate-limit-reset': String(NOW + 42) }, 17, 42],
  [{ 'x-rate-limit-remaining': '17', 'x-rate-limit-reset': String(NOW - 5) }, 17, 0],
  [{ 'ratelimit-remaining': '17', 'ratelimit-reset': '42' }, 17, 42],
  [{ 'ratelimit-remaining': '17', 'ratelimit-reset': 'soon' }, 17, undefined],
  [{ ratelimit: 'limit=500, remaining=17, reset=42' }, 17, 42, 500],
  [{ 'x-rate-limit': '500', 'x-rate-limit-remaining': '17' }, 17, undefined, 500],
  [{ 'x-ratelimit-limit': '500', 'x-ratelimit-remaining': '17' }, 17, undefined, 500],
  [{ 'ratelimit-limit': '10, 10;w=1', 'ratelimit-remaining': '9', 'ratelimit-reset': '1' }, 9, 1, 10],
  [{ 'x-ratelimit-remaining': '17', 'x-ratelimit-reset': `${NOW + 42}000` }, 17, 42],
  [{ ratelimit: '"default";r=17;t=42' }, 17, 42],
  [{ ratelimit: '"default";r=9;t=1', 'ratelimit-policy': '"default";q=10;w=1' }, 9, 1, 10],
])('the limit of the service by the headers %j has %j requests left', (headers, remaining, resetIn, most) => {
  const limit = rateLimitWindow({ headers }, NOW)
  expect(limit).toEqual(remaining === undefined ? undefined : { remaining, resetIn, limit: most })
})

test.each([
  ['90', 90],
  [' 0 ', 0],
  ['-5', 0],
  ['soon', 0],
  ['1e3', 0],
])('an Age of %j adds %i seconds to the Date', (age, seconds) => {
  const date = 'Fri, 20 Nov 2026 08:15:30 GMT'
  expect(serviceClock({ headers: { date, age } })).toBe(Date.parse(date) / 1000 + seconds)
})
