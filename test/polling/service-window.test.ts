import { describe, expect, test } from 'vitest'
import { newRateLimiter } from '../../src/polling/rate-limiter.ts'
import { virtualClock, type VirtualClock } from '../clock/virtual-clock.ts'
import { slidingLimit, tokenBucket, windowedLimit, type SharedLimit } from './shared-limits.ts'

function limiter(clock: VirtualClock) {
  return newRateLimiter({ clock, maxRequestsPerMinute: 200, pausedUntil: undefined, onPause: () => undefined })
}

/** callwatch makes so many requests, beside others who make so many a minute at a steady pace. */
async function share(service: SharedLimit, othersPerMinute: number, requests: number) {
  const clock = virtualClock()
  const rateLimiter = limiter(clock)
  const begun = clock.monotonic()
  const now = () => clock.monotonic() - begun
  const refused = { others: 0, callwatch: 0 }
  const made: number[] = []
  void (async () => {
    while (made.length < requests) {
      await rateLimiter.take(new AbortController().signal)
      made.push(now())
      const left = service(now())
      if (left === undefined) refused.callwatch += 1
      else rateLimiter.note(left)
    }
  })()
  for (let at = 0; made.length < requests && at < 4 * 3600; at += 60 / othersPerMinute) {
    await clock.advance(at - now())
    if (service(at) === undefined) refused.others += 1
  }
  return { refused, made: made.length, perMinute: made.length / (now() / 60) }
}

describe('beside others who use the same app', () => {
  test.each([
    ['begins anew each minute and says when', windowedLimit(500, true), 20],
    ['begins anew each minute', windowedLimit(500, false), 10],
    ['counts the last minute', slidingLimit(500), 12],
    ['is a token bucket', tokenBucket(500), 20],
  ])(
    'of 500 requests a minute, of which others use 450, callwatch takes some of the rest, where the limit %s',
    async (_kind, service, least) => {
      const { refused, made, perMinute } = await share(service, 450, 500)
      expect({ refused, made }).toEqual({ refused: { others: 0, callwatch: 0 }, made: 500 })
      expect(perMinute).toBeGreaterThan(least)
    },
  )

  test.each([windowedLimit(500, true), windowedLimit(500, false), slidingLimit(500), tokenBucket(500)])(
    'callwatch goes on where they use all of it (%#)',
    async (service) => {
      expect(await share(service, 600, 30)).toMatchObject({ made: 30 })
    },
  )

  test('callwatch takes most of its own limit where there are none', async () => {
    const { refused, perMinute } = await share(slidingLimit(500), 1, 1000)
    expect(refused).toEqual({ others: 0, callwatch: 0 })
    expect(perMinute).toBeGreaterThan(150)
  })
})

test('what a service said more than a minute ago does not count', async () => {
  const clock = virtualClock()
  const rateLimiter = limiter(clock)
  rateLimiter.note({ remaining: 1, resetIn: 30 })
  expect(rateLimiter.pace()).toEqual({ perMinute: 2, isSlowed: true })
  await clock.advance(61)
  expect(rateLimiter.pace()).toEqual({ perMinute: 180, isSlowed: false })
})
