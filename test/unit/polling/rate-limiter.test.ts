import { describe, expect, test } from 'vitest'
import { leftOfPause, newRateLimiter, type RateLimiterOptions } from '../../../src/polling/rate-limiter.ts'
import { virtualClock, type VirtualClock } from '../../kit/virtual-clock.ts'

function rateLimiterOn(clock: VirtualClock, more: Partial<RateLimiterOptions> = {}) {
  return newRateLimiter({ clock, maxRequestsPerMinute: 60, pausedUntil: undefined, onPause: () => undefined, ...more })
}

/** Takes so many requests; the result is filled with the time of each grant. */
function takeAll(clock: VirtualClock, rateLimiter: ReturnType<typeof rateLimiterOn>, requests: number): number[] {
  const times: number[] = []
  for (let i = 0; i < requests; i++)
    void rateLimiter.take(new AbortController().signal).then(() => times.push(clock.monotonic()))
  return times
}

/** The most grants in any window of 60 seconds. */
function busiestMinute(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 60).length))
}

describe('the rate limiter', () => {
  test.each([1, 7, 60, 400])('never grants more than %i requests in any minute', async (maxRequestsPerMinute) => {
    const clock = virtualClock()
    const rateLimiter = rateLimiterOn(clock, { maxRequestsPerMinute })
    await clock.advance(300)
    const times = takeAll(clock, rateLimiter, maxRequestsPerMinute * 4)
    await clock.advance(180)
    expect(busiestMinute(times)).toBeLessThanOrEqual(maxRequestsPerMinute)
    expect(times.length).toBeGreaterThanOrEqual(Math.floor(maxRequestsPerMinute * 0.9 * 3))
  })

  test('stays below the limit across a restart', async () => {
    const clock = virtualClock()
    const times = takeAll(clock, rateLimiterOn(clock), 18)
    await clock.advance(21)
    expect(times).toHaveLength(18)
    const afterwards = takeAll(clock, rateLimiterOn(clock), 100)
    await clock.advance(120)
    expect(busiestMinute([...times, ...afterwards])).toBeLessThanOrEqual(60)
  })

  test.each([
    [400, 60],
    [60, 400],
  ])(
    'grants no more than the higher limit in the minute of a change from %i to %i, and then no more than the new one',
    async (before, after) => {
      const clock = virtualClock()
      const rateLimiter = rateLimiterOn(clock, { maxRequestsPerMinute: before })
      await clock.advance(300)
      const times = takeAll(clock, rateLimiter, 3000)
      await clock.advance(45)
      rateLimiter.setLimit(after)
      await clock.advance(180)
      expect(busiestMinute(times)).toBeLessThanOrEqual(400)
      const since = times.filter((time) => time > 345)
      expect(busiestMinute(since)).toBeLessThanOrEqual(after)
      expect(since.length).toBeGreaterThanOrEqual(Math.floor(after * 0.9 * 3) - 2)
    },
  )

  test('stays below the limit across several restarts', async () => {
    const clock = virtualClock()
    const times: number[] = []
    for (let i = 0; i < 6; i++) {
      const life = new AbortController()
      const rateLimiter = rateLimiterOn(clock)
      const note = () => void times.push(clock.monotonic())
      const asked = Array.from({ length: 60 }, () => rateLimiter.take(life.signal).then(note, () => undefined))
      await clock.advance(20)
      life.abort()
      await Promise.all(asked)
    }
    expect(times.length).toBeGreaterThan(60)
    expect(busiestMinute(times)).toBeLessThanOrEqual(60)
  })

  test('grants in the order of the requests, and the first one soon', async () => {
    const clock = virtualClock()
    const rateLimiter = rateLimiterOn(clock)
    const granted: string[] = []
    for (const name of ['a', 'b', 'c'])
      void rateLimiter.take(new AbortController().signal).then(() => granted.push(name))
    await clock.advance(1.2)
    expect(granted).toEqual(['a'])
    await clock.advance(3)
    expect(granted).toEqual(['a', 'b', 'c'])
  })

  test('grants the next request if one is aborted while it waits, and counts only that', async () => {
    const clock = virtualClock()
    const rateLimiter = rateLimiterOn(clock)
    const controller = new AbortController()
    const aborted = rateLimiter.take(controller.signal)
    const times = takeAll(clock, rateLimiter, 1)
    controller.abort()
    await expect(aborted).rejects.toThrow('aborted')
    await clock.advance(1.2)
    expect(times).toHaveLength(1)
  })

  test('grants nothing during a rate limit pause', async () => {
    const clock = virtualClock()
    const pauses: number[] = []
    const rateLimiter = rateLimiterOn(clock, { onPause: (until) => pauses.push(until) })
    await clock.advance(10)
    rateLimiter.pause(30)
    rateLimiter.pause(5)
    const times = takeAll(clock, rateLimiter, 2)
    await clock.advance(29.9)
    expect(times).toEqual([])
    await clock.advance(0.2)
    expect(times).toHaveLength(2)
    expect(pauses).toEqual([clock.wall() - 40.1 + 40])
  })

  test('pauses for an hour at most', async () => {
    const clock = virtualClock()
    const pauses: number[] = []
    const rateLimiter = rateLimiterOn(clock, { onPause: (until) => pauses.push(until) })
    const hour = 3600
    expect((rateLimiter.pause(30 * 24 * hour), rateLimiter.pausedFor())).toBe(hour)
    expect(pauses).toEqual([clock.wall() + hour])
  })

  test('grants one request after a pause of an hour, and the others after its answer', async () => {
    const clock = virtualClock()
    const rateLimiter = rateLimiterOn(clock)
    rateLimiter.pause(7200)
    const times = takeAll(clock, rateLimiter, 3)
    await clock.advance(3599)
    expect(times).toHaveLength(0)
    await clock.advance(5)
    expect(times).toHaveLength(1)
    // The service still refuses it.
    rateLimiter.pause(3600)
    await clock.advance(3590)
    expect(times).toHaveLength(1)
    await clock.advance(12)
    expect(times).toHaveLength(3)
  })

  test('grants all requests after a pause of an hour once the first one has succeeded', async () => {
    const clock = virtualClock()
    const rateLimiter = rateLimiterOn(clock)
    rateLimiter.pause(7200)
    const times = takeAll(clock, rateLimiter, 3)
    await clock.advance(3609)
    expect(times).toHaveLength(1)
    await clock.advance(3)
    expect(times).toHaveLength(3)
  })

  test('keeps a pause across a restart', async () => {
    const clock = virtualClock()
    const times = takeAll(clock, rateLimiterOn(clock, { pausedUntil: clock.wall() + 3600 }), 1)
    await clock.advance(3599)
    expect(times).toEqual([])
    await clock.advance(2)
    expect(times).toHaveLength(1)
  })

  test('ignores a pause that was stored while the clock was ahead, until it is an hour away', async () => {
    const clock = virtualClock()
    const pausedUntil = clock.wall() + 8 * 3600
    const times = takeAll(clock, rateLimiterOn(clock, { pausedUntil }), 1)
    await clock.advance(3)
    expect(times).toHaveLength(1)
    expect([pausedUntil - 3660, pausedUntil - 1].map((at) => leftOfPause(pausedUntil, { ...clock, wall: () => at }))).toEqual([3600, 1]) // oxfmt-ignore
  })

  test('grants nothing while its limit is 0, and starts empty after that', async () => {
    const clock = virtualClock()
    const rateLimiter = rateLimiterOn(clock)
    await clock.advance(60)
    rateLimiter.setLimit(0)
    const waiting = new AbortController()
    const refused = rateLimiter.take(waiting.signal)
    await clock.advance(60)
    waiting.abort()
    await expect(refused).rejects.toThrow('aborted')
    rateLimiter.setLimit(60)
    const times = takeAll(clock, rateLimiter, 3)
    await clock.advance(1)
    expect(times).toHaveLength(0)
    await clock.advance(2.5)
    expect(times).toHaveLength(3)
  })
})

test('requests that can wait are granted while half of the burst is left, and nothing else waits or pauses', async () => {
  const clock = virtualClock(0)
  const limiter = newRateLimiter({ clock, maxRequestsPerMinute: 100, pausedUntil: undefined, onPause: () => undefined })
  const { signal } = new AbortController()
  const seen = [limiter.hasSpare()]
  await clock.advance(10)
  seen.push(limiter.hasSpare())
  for (let i = 0; i < 6; i++) await limiter.take(signal)
  seen.push(limiter.hasSpare())
  await clock.advance(10)
  limiter.pause(5)
  seen.push(limiter.hasSpare())
  await clock.advance(6)
  seen.push(limiter.hasSpare())
  expect(seen).toEqual([false, true, false, false, true])
})
