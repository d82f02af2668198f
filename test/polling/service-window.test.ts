import { describe, expect, test } from 'vitest'
import { newRateLimiter } from '../../src/polling/rate-limiter.ts'
import type { RateLimitWindow } from '../../src/service/answer-headers.ts'
import { virtualClock, type VirtualClock } from '../clock/virtual-clock.ts'

const LIMIT = 500

/** Lets requests through, as a service that counts them in one of these ways; what is left, or undefined for a 429. */
type Service = (at: number) => RateLimitWindow | undefined

function windowed(saysReset: boolean): Service {
  let used = 0
  let window = 0
  return (at) => {
    if (Math.floor(at / 60) > window) [window, used] = [Math.floor(at / 60), 0]
    if (used >= LIMIT) return undefined
    used += 1
    return { remaining: LIMIT - used, resetIn: saysReset ? 60 * (window + 1) - at : undefined }
  }
}

/** As the simulator: the requests of the last minute count, and the reset is when the oldest of them no longer does. */
function sliding(): Service {
  const admitted: number[] = []
  return (at) => {
    while (admitted[0]! <= at - 60) admitted.shift()
    if (admitted.length >= LIMIT) return undefined
    admitted.push(at)
    return { remaining: LIMIT - admitted.length, resetIn: admitted[0]! + 60 - at }
  }
}

/** As a token bucket: each request is available again after its share of a minute. */
function bucket(): Service {
  let [left, since] = [LIMIT, 0]
  return (at) => {
    ;[left, since] = [Math.min(LIMIT, left + ((at - since) * LIMIT) / 60), at]
    if (left < 1) return undefined
    left -= 1
    return { remaining: Math.floor(left), resetIn: undefined }
  }
}

function limiter(clock: VirtualClock) {
  return newRateLimiter({ clock, maxRequestsPerMinute: 200, pausedUntil: undefined, onPause: () => undefined })
}

/** callwatch makes so many requests, beside others who make so many a minute at a steady pace. */
async function share(service: Service, othersPerMinute: number, requests: number) {
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
    ['begins anew each minute and says when', windowed(true), 20],
    ['begins anew each minute', windowed(false), 10],
    ['counts the last minute', sliding(), 12],
    ['is a token bucket', bucket(), 20],
  ])(
    'of 500 requests a minute, of which others use 450, callwatch takes some of the rest, where the limit %s',
    async (_kind, service, least) => {
      const { refused, made, perMinute } = await share(service, 450, 500)
      expect({ refused, made }).toEqual({ refused: { others: 0, callwatch: 0 }, made: 500 })
      expect(perMinute).toBeGreaterThan(least)
    },
  )

  test.each([windowed(true), windowed(false), sliding(), bucket()])(
    'callwatch goes on where they use all of it (%#)',
    async (service) => {
      expect(await share(service, 600, 30)).toMatchObject({ made: 30 })
    },
  )

  test('callwatch takes most of its own limit where there are none', async () => {
    const { refused, perMinute } = await share(sliding(), 1, 1000)
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
