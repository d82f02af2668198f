import { expect, test } from 'vitest'
import { rateLimitWindow } from '../../../src/service/answer-headers.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { CREATED, seen } from '../../kit/ledger/seen.ts'
import { gateway, slidingLimit } from '../polling/shared-limits.ts'
import { running } from './running.ts'

/** Finished calls, the newest first. */
const call = (n: number) => seen(`call ${n}`, 'ended', { initiatedAt: CREATED - 4000 - n / 2, startedAt: CREATED - 3990 - n / 2, endedAt: CREATED - 3900 - n / 2 }) // oxfmt-ignore

test('of 500 requests a minute, of which others use 450, callwatch reads 8000 calls, sweeps and polls, and nobody gets 429', async () => {
  const { clock, service, reports, target } = await running({ pageSize: 100, maxRequestsPerMinute: 200 })
  service.calls = Array.from({ length: 8000 }, (_, n) => call(n))
  const limit = slidingLimit(500)
  const refused = { others: 0, callwatch: 0 }
  service.fails = () => {
    const left = limit(clock.monotonic())
    service.says = { ...service.says, limit: left }
    if (left !== undefined) return undefined
    refused.callwatch += 1
    return new ServiceError('rate_limited', 'too many', { status: 429, retryAfter: 1 })
  }
  const use = async (minutes: number, until: () => boolean = () => false) => {
    for (let n = 0; n < minutes * 450 && !until(); n++) {
      await clock.advance(60 / 450)
      if (limit(clock.monotonic()) === undefined) refused.others += 1
    }
  }
  await use(10, () => target.ledger.sync.lastSuccess !== undefined)
  const synced = clock.monotonic()
  const first = reports().length
  await use(25, () => clock.monotonic() - (target.sweepAge() ?? Infinity) > synced)
  const polls = reports().slice(first)
  expect({ refused, calls: target.ledger.calls.size }).toEqual({
    refused: { others: 0, callwatch: 0 },
    calls: 8000,
  })
  expect(synced / 60).toBeLessThan(5)
  // A sweep of 80 pages beside polls that are as frequent as configured.
  expect(polls.filter(({ successful }) => successful).length).toBeGreaterThan(
    (0.95 * (clock.monotonic() - synced)) / 15,
  )
  expect((clock.monotonic() - synced) / 60).toBeLessThan(18)
})

test('of a gateway that says that it allows 10 requests a second, callwatch reads a list of 61 pages within a minute', async () => {
  const { clock, service, target } = await running({ pageSize: 100, maxRequestsPerMinute: 200 })
  service.calls = Array.from({ length: 6001 }, (_, n) => call(n))
  const limit = gateway(10)
  service.fails = () => {
    const left = limit(clock.monotonic())
    if (left === undefined) return new ServiceError('rate_limited', 'too many', { status: 429, retryAfter: 1 })
    const headers = { 'ratelimit-limit': '10', 'ratelimit-remaining': `${left.remaining}`, 'ratelimit-reset': '1' }
    service.says = { ...service.says, limit: rateLimitWindow({ headers }, clock.wall()) }
    return undefined
  }
  await clock.advance(60)
  expect(service.asked.length).toBeGreaterThanOrEqual(61)
  expect(target.ledger.sync.lastSuccess).toBeDefined()
  expect(target.ledger.calls.size).toBe(6001)
})
