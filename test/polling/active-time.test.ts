import { describe, expect, test } from 'vitest'
import { sleep } from '../../src/clock/clock.ts'
import { activeTime } from '../../src/polling/active-time.ts'
import type { RateBudget } from '../../src/polling/rate-budget.ts'
import { ServiceError } from '../../src/service/service-error.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { CREATED, seen } from '../ledger/seen.ts'
import { running } from '../target/running.ts'

describe('the time of a poll', () => {
  /** A budget that lets each request wait for as many seconds as the next of these. */
  function timing(...waits: number[]) {
    const clock = virtualClock()
    const budget: RateBudget = {
      take: (signal) => sleep(clock, waits.shift() ?? 0, signal),
      holdBack: () => undefined,
      heldFor: () => 7,
    }
    const time = activeTime(budget, clock)
    const take = (signal = new AbortController().signal) => time.budget.take(signal)
    return { clock, time, take }
  }

  test('goes on while nothing waits for the rate limit', async () => {
    const { clock, time } = timing()
    await clock.advance(5)
    expect([time.passed(), time.budget.heldFor()]).toEqual([5, 7])
  })

  test('stands still while a request waits, and goes on after', async () => {
    const { clock, time, take } = timing(20, 30)
    await clock.advance(5)
    void take()
    await clock.advance(10)
    expect(time.passed()).toBe(5)
    await clock.advance(12)
    expect(time.passed()).toBe(7)
    void take()
    await clock.advance(31)
    expect(time.passed()).toBe(8)
  })

  test('stands still once for requests that wait at the same time', async () => {
    const { clock, time, take } = timing(20, 30)
    void take()
    await clock.advance(10)
    void take()
    await clock.advance(31)
    expect(time.passed()).toBe(1)
  })

  test('goes on after a request that was given up while it waited', async () => {
    const { clock, time, take } = timing(20)
    const abort = new AbortController()
    const taken = take(abort.signal)
    await clock.advance(5)
    abort.abort()
    await expect(taken).rejects.toThrow('aborted')
    await clock.advance(4)
    expect(time.passed()).toBe(4)
  })

  test('is over once so much has passed without the waiting', async () => {
    const { clock, time, take } = timing(50)
    const over: number[] = []
    time.after$(30).subscribe(() => over.push(clock.monotonic()))
    await clock.advance(10)
    void take()
    await clock.advance(69.5)
    expect(over).toEqual([])
    await clock.advance(1)
    expect(over).toEqual([80])
    await clock.advance(100)
    expect(over).toEqual([80])
  })
})

test('a Retry-After that is longer than a poll may take ends the poll at its deadline: what it has read is committed', async () => {
  const { clock, service, reports, book } = await running({ maxRequestsPerMinute: 400, retries: 2 })
  service.calls = Array.from({ length: 9 }, (_, n) => seen(`call ${n}`, 'ended', { endedAt: CREATED + n }))
  const wait = new ServiceError('rate_limited', 'wait', { status: 429, retryAfter: 3000 })
  service.fails = (_operation, page) => (page === 3 ? wait : undefined)
  await clock.advance(75)
  expect(book.finished()).toBe(4)
  expect(reports()[0]?.problem).toMatch(/^the service asked to wait \(Retry-After\): no request for another 29\d\d s$/)
})

describe('a rate limit that lets fewer than two requests into a deadline', () => {
  test('does not make the first poll begin at page 1 for ever: it reads two pages at least', async () => {
    const { clock, service, reports, book } = await running({ pageSize: 1, maxRequestsPerMinute: 1 })
    service.calls = Array.from({ length: 8 }, (_, n) => seen(`call ${n}`, 'ended', { endedAt: CREATED + n }))
    await clock.advance(2400)
    expect(reports().some(({ good }) => good)).toBe(true)
    expect(book.finished()).toBe(8)
    expect(reports().some(({ problem }) => problem?.includes('deadline'))).toBe(false)
    // Page 1 is asked for twice at most: a reading that was cut goes one page back.
    const untilTheEnd = service.asked.slice(0, service.asked.indexOf(8) + 1)
    expect(untilTheEnd.filter((page) => page === 1).length).toBeLessThanOrEqual(2)
  })

  test('does not keep an answer that never comes from ending the poll', async () => {
    const { clock, service, reports } = await running({ timeout: 1000, maxRequestsPerMinute: 1 })
    service.client.listCalls = () => new Promise<never>(() => undefined)
    await clock.advance(120)
    expect(reports()).toEqual([])
    await clock.advance(10)
    expect(reports().map(({ outcome }) => outcome)).toEqual(['failed'])
  })
})
