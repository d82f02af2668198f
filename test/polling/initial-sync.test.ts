import { describe, expect, test } from 'vitest'
import { isOrderVerified } from '../../src/ledger/list-traits.ts'
import { ServiceError } from '../../src/service/service-error.ts'
import { CREATED } from '../ledger/seen.ts'
import type { FakeService } from './fake-service.ts'
import { call, polling, numbered } from './polling.ts'

describe('the initial sync', () => {
  test('reads pages until it has seen as many calls as the total says', async () => {
    const { service, next, tracked } = polling()
    service.calls = numbered(1, 10)
    expect(await next()).toEqual(['complete', [1, 2, 3]])
    expect(tracked()).toBe(10)
  })

  test('of an empty list is complete', async () => {
    const { next } = polling()
    expect(await next()).toEqual(['complete', [1]])
  })

  test('counts invalid items, because the total does as well', async () => {
    const { service, poll } = polling()
    service.calls = numbered(1, 2)
    service.says = { total: 3, totalPages: 1, items: 3, keys: ['call 1', 'call 2', 'no call'] }
    expect((await poll()).success?.movesHorizon).toBe(true)
  })

  test('uses the total if the service sends too small a number of pages', async () => {
    const { service, poll, tracked } = polling()
    service.calls = numbered(1, 24)
    service.says = { totalPages: 2 }
    expect((await poll()).success?.movesHorizon).toBe(true)
    expect(tracked()).toBe(24)
  })

  test('without a total continues until a page is empty', async () => {
    const { service, next } = polling()
    service.calls = numbered(1, 8)
    service.says = { total: undefined, totalPages: undefined }
    expect(await next()).toEqual(['complete', [1, 2, 3]])
  })

  test('of a list without an end stops, and is not successful', async () => {
    const { service, poll } = polling()
    service.calls = numbered(1, 4)
    service.says = { total: undefined, totalPages: undefined }
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => ({ ...(await listCalls(1, signal)), page })
    const { success, problem } = await poll()
    expect(success).toBeUndefined()
    expect(problem?.message).toContain('did not end')
    expect(service.asked.length).toBeLessThan(40)
  })

  test('that finds fewer calls than the total reports that, and is not successful', async () => {
    const { service, poll } = polling()
    service.calls = numbered(1, 8)
    service.says = { total: 11, totalPages: 2 }
    const { success, problem } = await poll()
    expect(success).toBeUndefined()
    expect(problem?.message).toBe('the service says that it lists 11 calls, but only 8 were found on its pages')
  })

  test('is successful at a page wholly before the horizon, if ten times were in order, and the next polls read the rest', async () => {
    const { service, next, memory } = polling({ lookback: 11 })
    service.calls = numbered(1, 100)
    // The fourth page is older than the horizon; the last one is read for the oldest end, and the first again for new calls.
    expect(await next()).toEqual(['incremental', [1, 2, 3, 4, 25, 1, 4, 5, 6]])
    expect(isOrderVerified(memory.traits)).toBe(false)
    expect(await next()).toEqual(['incremental', [1, 6, 7, 8]])
    let kind: string
    do [kind] = await next()
    while (kind === 'incremental')
    expect([kind, isOrderVerified(memory.traits)]).toEqual(['complete', true])
  })

  test('tolerates one call with a wrong date', async () => {
    const { service, next } = polling({ pageSize: 30 })
    const misdated = { ...call(20), initiatedAt: CREATED + 9000, endedAt: CREATED + 9000 }
    service.calls = [...numbered(1, 19), misdated, ...numbered(21, 60)]
    await next()
    service.calls = [call(0), ...service.calls]
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('turns to the other end as soon as the list is known to be oldest first', async () => {
    const { service, next, tracked } = polling({ lookback: 16, pageSize: 10 })
    service.calls = numbered(1, 60).toReversed()
    const [kind, asked] = await next()
    expect(kind).toBe('incremental')
    expect(asked.slice(0, 4)).toEqual([1, 6, 5, 4])
    expect(tracked()).toBe(16)
  })

  test('finds a call that moved to the page before when another left the list', async () => {
    const { service, next, book } = polling()
    service.calls = numbered(1, 12)
    service.beforePage = (page) => {
      if (page === 2 && service.asked.length === 2) service.calls = service.calls.filter(({ id }) => id !== 'call 1')
    }
    expect((await next())[0]).toBe('complete')
    expect(book.state.calls.has('call 5')).toBe(true)
  })

  test('finds a call that was added at the top meanwhile', async () => {
    const { service, next, book } = polling()
    service.calls = numbered(1, 12)
    service.beforePage = (page) => {
      if (page === 3) service.calls = numbered(0, 12)
    }
    expect((await next())[0]).toBe('complete')
    expect(book.state.calls.has('call 0')).toBe(true)
  })

  test('finds more than a page of calls that were added at the top meanwhile', async () => {
    const { service, poll, tracked } = polling()
    service.calls = numbered(1, 24)
    service.beforePage = (page) => {
      if (page === 4) service.calls = numbered(-5, 24)
    }
    expect((await poll()).success?.movesHorizon).toBe(true)
    expect(tracked()).toBe(30)
  })

  test.each<[string, FakeService['says']]>([
    ['with a total', {}],
    ['without one', { total: undefined, totalPages: undefined }],
  ])('finds everything in a list that is shuffled for each request, %s', async (_which, says) => {
    const { service, poll, tracked } = polling()
    service.says = says
    const calls = numbered(1, 24)
    let turn = 0
    service.beforePage = () => {
      turn += 1
      service.calls = calls.toSorted((a, b) => hash(`${turn} ${a.id}`) - hash(`${turn} ${b.id}`))
    }
    const { success } = await poll()
    expect(success?.movesHorizon).toBe(true)
    expect(tracked()).toBe(24)
  })

  test('reads overlapping pages a second time if neither an order nor a total is known', async () => {
    const { service, next, tracked } = polling()
    service.says = { total: undefined, totalPages: undefined }
    const calls = numbered(1, 24).toSorted((a, b) => hash(a.id) - hash(b.id))
    // Each page begins with the last call of the one before.
    service.calls = calls.flatMap((call, n) => (n > 0 && n % 3 === 0 ? [call, call] : call))
    expect(await next()).toEqual(['complete', [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9]])
    expect(tracked()).toBe(24)
  })

  test('that takes longer than an interval continues in the next poll, one page back', async () => {
    const { wait, service, next, poll } = polling()
    service.calls = numbered(1, 40)
    service.beforePage = () => void wait(6)
    expect(await next()).toEqual(['unsuccessful', [1, 2, 3]])
    expect((await poll()).success).toBeUndefined()
    expect(service.asked).toEqual([3, 4, 5])
    expect((await next())[1].slice(0, 2)).toEqual([5, 6])
  })

  test('continues where a failing page interrupted it', async () => {
    const { service, next, poll } = polling()
    service.calls = numbered(1, 12)
    service.fails = (_operation, page) => (page === 3 ? new ServiceError('server', 'it is down') : undefined)
    expect((await poll()).problem?.kind).toBe('server')
    service.fails = () => undefined
    // The last page is full, so one more checks that the list ends there.
    expect(await next()).toEqual(['complete', [2, 3, 4]])
  })
})

/** A pseudo-random number, the same for the same text. */
function hash(text: string): number {
  let value = 7
  for (const char of text) value = (Math.imul(value, 31) + char.codePointAt(0)!) | 0
  return Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
}
