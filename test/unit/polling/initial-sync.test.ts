import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../../src/service/service-error.ts'
import { CREATED } from '../../kit/ledger/seen.ts'
import type { FakeService } from './fake-service.ts'
import { call, numbered, polling, shuffled } from './polling.ts'

const NO_TOTAL = { total: undefined, totalPages: undefined }
const DOWN = new ServiceError('server', 'it is down', { status: 503 })

describe('the initial sync', () => {
  test.each<[string, number, FakeService['says'], number[]]>([
    ['of twelve calls in pages of four reads them, and the empty page', 12, {}, [1, 2, 3, 4]],
    ['of ten calls does so as well, since a short page may be followed by others', 10, {}, [1, 2, 3, 4]],
    ['without a total reads as much', 10, NO_TOTAL, [1, 2, 3, 4]],
    ['of three calls reads two pages, whatever the total says', 3, {}, [1, 2]],
    ['of no calls reads one page', 0, {}, [1]],
    ['reads more pages than the service says that there are', 10, { totalPages: 2 }, [1, 2, 3, 4]],
    ['is complete, though the total counts more than the pages show', 10, { total: 15 }, [1, 2, 3, 4]],
  ])('%s', async (_what, count, says, pages) => {
    const { service, next, tracked } = polling()
    service.calls = numbered(1, count)
    service.says = says
    expect(await next()).toEqual(['complete', pages])
    expect(tracked()).toBe(count)
  })

  test('reads pages that are smaller than was requested once', async () => {
    const { service, next } = polling({ requested: 10 })
    service.calls = numbered(1, 12)
    expect(await next()).toEqual(['complete', [1, 2, 3, 4]])
  })

  test.each([
    ['in order of time: what was shown counts, and polls are limited', 12, [true, true]],
    ['in no known order: new calls may be on a page that it does not show', 4, [false, false]],
  ])('of a list whose pages are all the same stops, %s', async (_what, pageSize, expected) => {
    const { service, poll } = polling({ pageSize })
    service.calls = numbered(1, pageSize).map((one) => (pageSize > 4 ? one : { ...one, initiatedAt: CREATED }))
    service.shows = (page) => ({
      ...page,
      ...NO_TOTAL,
      calls: service.calls,
      keys: service.calls.map(({ id }) => id),
      items: pageSize,
    })
    const { success } = await poll()
    expect([success !== undefined, success?.limited === true]).toEqual(expected)
    expect(service.asked).toEqual([1, 2, 3])
  })

  test('is successful at a page wholly before the horizon, if ten times were in order, and the next polls read the rest', async () => {
    const { service, next, poll, isVerified } = polling({ lookback: 12, pageSize: 5 })
    service.calls = numbered(1, 100)
    // The fourth page is older than the horizon; three more are a slice of the sweep.
    expect(await next()).toEqual(['incremental', [1, 2, 3, 4, 5, 6, 7]])
    expect(isVerified()).toBe(false)
    expect(await next()).toEqual(['incremental', [1, 8, 9, 10]])
    for (let polls = 0; polls < 3; polls++) await poll()
    expect(await next()).toEqual(['complete', [1, 20, 21]])
    expect(isVerified()).toBe(true)
  })

  test('tolerates one call with a wrong date', async () => {
    const { service, next, newest } = polling({ pageSize: 30 })
    const misdated = { ...call(20), initiatedAt: CREATED + 9000, endedAt: CREATED + 9000 }
    service.calls = [...numbered(1, 19), misdated, ...numbered(21, 60)]
    await next()
    service.calls = [call(newest()), ...service.calls]
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('turns to the other end as soon as the list is known to be oldest first', async () => {
    const { service, next, tracked } = polling({ lookback: 16, pageSize: 10 })
    service.calls = numbered(1, 60).toReversed()
    const [kind, asked] = await next()
    // The sixth page is the last one by the total, the seventh shows that it is, and the fourth is older than the horizon.
    expect([kind, asked]).toEqual(['complete', [1, 6, 7, 5, 4, 3, 2, 1]])
    expect(tracked()).toBe(16)
  })

  test('finds a call that moved to the page before when another left the list', async () => {
    const { service, next, has } = polling()
    service.calls = numbered(1, 12)
    service.beforePage = (page) => {
      if (page === 2 && service.asked.length === 2) service.calls = service.calls.slice(1)
    }
    expect(await next()).toEqual(['complete', [1, 2, 1, 2, 3, 4]])
    expect(has(5)).toBe(true)
  })

  test.each([
    ['one call', 1],
    ['more than a page of calls', 6],
  ])('finds, in the next poll, %s that came in meanwhile', async (_what, count) => {
    const { service, poll, tracked, isVerified } = polling()
    service.calls = numbered(1, 24)
    service.beforePage = (page) => {
      if (page === 4) service.calls = numbered(1 - count, 24)
    }
    for (let polls = 0; polls < 2; polls++) expect((await poll()).success).toBeDefined()
    expect([tracked(), isVerified()]).toEqual([24 + count, true])
  })

  test.each<[string, FakeService['says']]>([
    ['with a total', {}],
    ['without one', NO_TOTAL],
  ])('finds everything in a list that is shuffled for each request, %s', async (_which, says) => {
    const { service, poll, tracked } = polling()
    service.says = says
    const calls = numbered(1, 24)
    let turn = 0
    service.beforePage = () => void (service.calls = shuffled(calls, ++turn))
    expect((await poll()).success?.endsSweep).toBe(true)
    expect(tracked()).toBe(24)
  })

  test('that takes longer than an interval is continued by the next polls, and then shows what came in', async () => {
    const { wait, service, next, newest, tracked } = polling({ pageSize: 10 })
    service.calls = numbered(1, 100)
    service.beforePage = () => void wait(6)
    expect(await next()).toEqual(['unsuccessful', [1, 2, 3]])
    service.calls = [...numbered(newest(), newest() + 2), ...service.calls]
    expect(await next()).toEqual(['unsuccessful', [4, 5, 6, 7, 8]])
    expect(await next()).toEqual(['complete', [9, 10, 11, 12, 1]])
    expect(tracked()).toBe(103)
  })

  test('continues, a page back, where one failed for a while and calls came in: the list is in order all the same', async () => {
    const { service, next, newest, tracked, isVerified, clock } = polling({ pageSize: 10 })
    service.calls = numbered(1, 60)
    service.fails = (_operation, page) => (page === 2 ? DOWN : undefined)
    expect(await next()).toEqual(['unsuccessful', [1, 2]])
    service.fails = () => undefined
    await clock.advance(4)
    service.calls = [...numbered(newest(), newest() + 4), ...service.calls]
    expect(await next()).toEqual(['complete', [1, 2, 3, 4, 5, 6, 7, 8, 1]])
    expect([tracked(), isVerified()]).toEqual([65, true])
    expect(await next()).toEqual(['incremental', [1]])
  })
})
