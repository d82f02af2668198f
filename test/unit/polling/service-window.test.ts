import { describe, expect, test } from 'vitest'
import { newRateLimiter } from '../../../src/polling/rate-limiter.ts'
import { chance, exponential, pick, random, whole, type Random } from '../../../src/simulator/random.ts'
import { virtualClock, type VirtualClock } from '../../kit/virtual-clock.ts'
import { gateway, named, silent, slidingLimit, tokenBucket, windowedLimit, type SharedLimit } from './shared-limits.ts'
import { runs } from '../../kit/runs.ts'

const limiter = (clock: VirtualClock, maxRequestsPerMinute = 200) =>
  newRateLimiter({ clock, maxRequestsPerMinute, pausedUntil: undefined, onPause: () => undefined })

type Use = {
  /** Requests a minute of others. */
  others: number
  /** Draws when they come; default: at a steady pace. */
  drawn?: Random
  daemons?: number
  /** The configured limit of all daemons. */
  most?: number
  /** How long callwatch is watched, after so many minutes before. */
  minutes?: number
  before?: number
}

/** Daemons make all requests that their rate limiter grants, beside others. The result is the requests a minute of each daemon. */
async function share(service: SharedLimit, use: Use) {
  const { others, drawn, daemons = 1, most = 200, minutes = 8, before = 4 } = use
  const clock = virtualClock()
  const begun = clock.monotonic()
  const now = () => clock.monotonic() - begun
  const refused = { others: 0, callwatch: 0 }
  const made = Array.from({ length: daemons }, () => 0)
  const over = new AbortController()
  const poll = async (n: number) => {
    const rateLimiter = limiter(clock, 0)
    rateLimiter.setLimit(most, 1 / daemons)
    for (;;) {
      await rateLimiter.take(over.signal)
      if (now() > 60 * before) made[n]! += 1
      const left = service(now())
      if (left !== undefined) rateLimiter.note(left)
      else {
        refused.callwatch += 1
        rateLimiter.pause(1)
      }
    }
  }
  for (const n of made.keys()) void poll(n).catch(() => undefined)
  const pause = () => (drawn === undefined ? 60 / others : exponential(drawn, 60 / others))
  for (let at = pause(); at < 60 * (minutes + before); at += pause()) {
    await clock.advance(at - now())
    if (service(at) === undefined) refused.others += 1
  }
  over.abort()
  const perMinute = made.map((requests) => requests / minutes)
  return { refused, perMinute, total: perMinute.reduce((sum, one) => sum + one, 0), least: Math.min(...perMinute) }
}

const KINDS: [name: string, service: (most: number) => SharedLimit][] = [
  ['begins anew each minute and says when', (most) => windowedLimit(most, true)],
  ['begins anew each minute', (most) => windowedLimit(most, false)],
  ['counts the last minute', (most) => slidingLimit(most)],
]

describe.each(KINDS)('beside others who use an app whose limit %s, callwatch', (_kind, service) => {
  test.each([1, 2, 3, 5])('takes half of what they leave, with %i daemons together', async (daemons) => {
    const { refused, total, least } = await share(service(500), { others: 300, daemons })
    expect(refused).toEqual({ others: 0, callwatch: 0 })
    expect(total).toBeLessThanOrEqual(110)
    expect(least).toBeGreaterThanOrEqual((0.8 * 100) / daemons)
  })

  test('takes some of the rest where they use nine tenths', async () => {
    const { refused, total } = await share(service(500), { others: 450 })
    expect(refused).toEqual({ others: 0, callwatch: 0 })
    expect(total).toBeGreaterThan(20)
  })

  test('goes on where they use all of it', async () => {
    expect((await share(service(500), { others: 600 })).total).toBeGreaterThanOrEqual(1)
  })

  test('takes most of its own limit where there are nearly none', async () => {
    const { refused, total } = await share(service(500), { others: 1 })
    expect(refused).toEqual({ others: 0, callwatch: 0 })
    expect(total).toBeGreaterThan(150)
  })
})

test.each(Array.from({ length: runs(16) }, (_, seed) => seed))(
  'daemons take half of what others leave, each its part, in a drawn world (seed %i)',
  async (seed) => {
    const drawn = random(seed, 'shared limit')
    const [kind, service] = pick(drawn, KINDS)
    const limit = whole(drawn, 200, 2000)
    const use = { others: whole(drawn, 1, 0.7 * limit), daemons: whole(drawn, 1, 4), most: whole(drawn, 100, 1000) }
    const irregular = chance(drawn, 0.7) && { drawn: random(seed, 'others') }
    const limits = chance(drawn, 0.5) ? service(limit) : named(service(limit), limit)
    const { total, least } = await share(limits, { ...use, ...irregular })
    const half = (limit - use.others) / 2
    const part = Math.min(half, 0.9 * use.most) / use.daemons
    expect({ kind, limit, ...use, half, isHalf: total / half <= 1.1, isPart: least / part >= 0.8 }).toMatchObject({
      isHalf: true,
      isPart: true,
    })
  },
)

describe('a token bucket, of which others use nine tenths', () => {
  test('is not emptied', async () => {
    const { refused, total } = await share(tokenBucket(500), { others: 450 })
    expect(refused).toEqual({ others: 0, callwatch: 0 })
    expect(total).toBeGreaterThan(20)
  })

  test('gets requests also where they use all of it', async () => {
    expect((await share(tokenBucket(500), { others: 600 })).total).toBeGreaterThanOrEqual(1)
  })
})

describe('a limit of ten requests a second', () => {
  test.each([
    [1, 1],
    [3, 1],
    [1, 60],
    [3, 60],
  ])('leaves %i daemons most of their own limit, beside %i requests a minute', async (daemons, others) => {
    const { refused, least } = await share(gateway(10), { others, daemons, drawn: random(daemons, others) })
    expect(refused).toEqual({ others: 0, callwatch: 0 })
    expect(least).toBeGreaterThanOrEqual((0.8 * 180) / daemons)
  })
})

test.each([
  [10, 1, 10],
  [10, 3, 10],
  [30, 3, 10],
  [300, 1, 10],
  [300, 3, 10],
  [3600, 3, 1],
])(
  'of a limit for each %i s that others use half of, %i daemons take half of the rest',
  async (seconds, daemons, rate) => {
    const time = { minutes: Math.max(8, seconds / 30), before: Math.max(4, seconds / 30) }
    const others = { others: 30 * rate, drawn: random(seconds, daemons) }
    const { refused, total, least } = await share(gateway(rate * seconds, seconds), { ...time, ...others, daemons })
    expect(refused).toEqual({ others: 0, callwatch: 0 })
    expect(total).toBeLessThanOrEqual(16.5 * rate)
    expect(least).toBeGreaterThanOrEqual((0.8 * 15 * rate) / daemons)
  },
)

test('where the service never says when its limit begins anew, callwatch takes at least a third of what others leave', async () => {
  const { refused, total } = await share(silent(slidingLimit(500)), { others: 300, drawn: random('silent') })
  expect(refused).toEqual({ others: 0, callwatch: 0 })
  expect(total).toBeGreaterThan(65)
  expect(total).toBeLessThanOrEqual(110)
})

test('what a service said more than a minute ago does not count', async () => {
  const clock = virtualClock()
  const rateLimiter = limiter(clock)
  rateLimiter.note({ remaining: 1, resetIn: 30, limit: undefined })
  expect(rateLimiter.pace()).toEqual({ perMinute: 2, isSlowed: true })
  await clock.advance(61)
  expect(rateLimiter.pace()).toEqual({ perMinute: 180, isSlowed: false })
})

test('a limit that resets at once is one of a second', async () => {
  const rateLimiter = limiter(virtualClock())
  rateLimiter.note({ remaining: 3, resetIn: 0, limit: 4 })
  expect(rateLimiter.pace().perMinute).toBe(120)
})
