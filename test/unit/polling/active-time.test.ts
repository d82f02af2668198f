import { describe, expect, test } from 'vitest'
import { sleep } from '../../../src/clock/clock.ts'
import { activeTime } from '../../../src/polling/active-time.ts'
import { newRateLimiter, UNLIMITED, type RateLimiter } from '../../../src/polling/rate-limiter.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { CREATED, seen } from '../../kit/ledger/seen.ts'
import { running } from '../pipeline/running.ts'

describe('the active time of a poll', () => {
  /** A rate limiter whose requests wait for these seconds, one after the other. */
  function timing(...waits: number[]) {
    const clock = virtualClock()
    const rateLimiter: RateLimiter = {
      ...UNLIMITED,
      take: (signal) => sleep(clock, waits.shift() ?? 0, signal),
      pausedFor: () => 7,
    }
    const time = activeTime(rateLimiter, clock)
    const take = (signal = new AbortController().signal) => time.rateLimiter.take(signal)
    return { clock, time, take }
  }

  test('elapses while no request waits for the rate limit', async () => {
    const { clock, time } = timing()
    await clock.advance(5)
    expect([time.elapsed(), time.rateLimiter.pausedFor()]).toEqual([5, 7])
  })

  test('stands still while a request waits for the rate limit, and continues after it', async () => {
    const { clock, time, take } = timing(20, 30)
    await clock.advance(5)
    void take()
    await clock.advance(10)
    expect(time.elapsed()).toBe(5)
    await clock.advance(12)
    expect(time.elapsed()).toBe(7)
    void take()
    await clock.advance(31)
    expect(time.elapsed()).toBe(8)
  })

  test('counts the wait of concurrent requests once', async () => {
    const { clock, time, take } = timing(20, 30)
    void take()
    await clock.advance(10)
    void take()
    await clock.advance(31)
    expect(time.elapsed()).toBe(1)
  })

  test('continues after a waiting request was aborted', async () => {
    const { clock, time, take } = timing(20)
    const abort = new AbortController()
    const taken = take(abort.signal)
    await clock.advance(5)
    abort.abort()
    await expect(taken).rejects.toThrow('aborted')
    await clock.advance(4)
    expect(time.elapsed()).toBe(4)
  })

  test('reaches the deadline without the time in which requests waited', async () => {
    const { clock, time, take } = timing(50)
    const deadlines: number[] = []
    time.after$(30).subscribe(() => deadlines.push(clock.monotonic()))
    await clock.advance(10)
    void take()
    await clock.advance(69.5)
    expect(deadlines).toEqual([])
    await clock.advance(1)
    expect(deadlines).toEqual([80])
    await clock.advance(100)
    expect(deadlines).toEqual([80])
  })
})

test('a Retry-After that is longer than a poll may take ends the poll at its deadline, and what it has read is committed', async () => {
  const { clock, service, reports, book } = await running({ maxRequestsPerMinute: 400, retries: 2 })
  service.calls = Array.from({ length: 9 }, (_, n) => seen(`call ${n}`, 'ended', { endedAt: CREATED + n }))
  const wait = new ServiceError('rate_limited', 'wait', { status: 429, retryAfter: 3000 })
  service.fails = (_operation, page) => (page === 3 ? wait : undefined)
  await clock.advance(75)
  expect(book.finished()).toBe(4)
  expect(reports()[0]?.problem).toMatch(/^the service asked to wait \(Retry-After\): no request for another 29\d\d s$/)
})

describe('a rate limit that grants fewer than two requests before the deadline of a poll', () => {
  test('does not make every poll start at page 1 again: each reads at least two pages', async () => {
    const { clock, service, reports, book } = await running({ pageSize: 1, maxRequestsPerMinute: 1 })
    service.calls = Array.from({ length: 8 }, (_, n) => seen(`call ${n}`, 'ended', { endedAt: CREATED + n }))
    await clock.advance(2400)
    expect(reports().some(({ successful }) => successful)).toBe(true)
    expect(book.finished()).toBe(8)
    expect(reports().some(({ problem }) => problem?.includes('deadline'))).toBe(false)
    // An interrupted sweep continues one page back, so it requests page 1 at most twice.
    const untilTheEnd = service.asked.slice(0, service.asked.indexOf(8) + 1)
    expect(untilTheEnd.filter((page) => page === 1).length).toBeLessThanOrEqual(2)
  })

  test('does not keep a poll without an answer from ending', async () => {
    const { clock, service, reports } = await running({ timeout: 1000, maxRequestsPerMinute: 1 })
    service.client.listCalls = () => new Promise<never>(() => undefined)
    await clock.advance(120)
    expect(reports()).toEqual([])
    await clock.advance(10)
    expect(reports().map(({ outcome }) => outcome)).toEqual(['failed'])
  })
})

test('a poll of 200 pages ends in time among 119 other targets of its app, which together want more than the limit', async () => {
  const clock = virtualClock()
  const shared = newRateLimiter({ clock, maxRequestsPerMinute: 200, pausedUntil: undefined, onPause: () => undefined })
  const { signal } = new AbortController()
  const polls = Array.from({ length: 119 }, () => 0)
  const poll = async (requests: number) => {
    const { rateLimiter } = activeTime(shared, clock)
    for (let n = 0; n < requests; n++) await rateLimiter.take(signal)
  }
  const target = async (n: number): Promise<void> => {
    await poll(1)
    polls[n]! += 1
    await sleep(clock, 15)
    return target(n)
  }
  for (const n of polls.keys()) void target(n)
  let isRead = false
  void poll(200).then(() => (isRead = true))
  await clock.advance(180)
  expect(isRead).toBe(true)
  // The others are still polled, each as often as any other.
  expect(Math.min(...polls)).toBeGreaterThanOrEqual(2)
  expect(Math.max(...polls) - Math.min(...polls)).toBeLessThanOrEqual(1)
})
