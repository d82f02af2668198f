import { describe, expect, test } from 'vitest'
import { newListMemory } from '../../src/polling/list-memory.ts'
import { knownOrder } from '../../src/polling/list-order.ts'
import { newPoll } from '../../src/polling/poll.ts'
import { readList } from '../../src/polling/read-list.ts'
import { ServiceError } from '../../src/service/service-error.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { CREATED, seen } from '../ledger/seen.ts'
import { call, polling, numbered, ongoing } from './polling.ts'

describe('an incremental poll', () => {
  async function afterTheFirst(calls = numbered(1, 40), options?: Parameters<typeof polling>[0]) {
    const world = polling(options)
    world.service.calls = calls
    await world.poll()
    return world
  }

  test('reads only the newest page if nothing is new', async () => {
    const { next } = await afterTheFirst()
    expect(await next()).toEqual(['incremental', [1]])
  })

  test.each([
    [1, [1]],
    [3, [1]],
    [4, [1, 2]],
    [5, [1, 2]],
    [11, [1, 2, 3]],
  ])('reads on until a known call and the total explain %i new calls', async (count, pages) => {
    const { service, next, tracked } = await afterTheFirst()
    service.calls = numbered(1 - count, 40)
    expect(await next()).toEqual(['incremental', pages])
    expect(tracked()).toBe(40 + count)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('reads on for open calls as long as that saves more requests than it costs', async () => {
    // The second page has three open calls, the third one; a single one further back gets a follow-up.
    const open = new Set([1, 5, 7, 8, 10, 30])
    const calls = Array.from({ length: 40 }, (_, i) => (open.has(i + 1) ? ongoing(i + 1) : call(i + 1)))
    const { poll, service } = await afterTheFirst(calls)
    const { listed, success } = await poll()
    expect([service.asked, success?.movesHorizon]).toEqual([[1, 2], false])
    expect([...listed].toSorted()).toEqual(['call 1', 'call 5', 'call 7', 'call 8'])
  })

  test('does not read on for details of final calls, which a list does not show', async () => {
    const calls = numbered(1, 40)
    const { poll, service } = await afterTheFirst(calls, { isWanted: () => true })
    await poll()
    expect(service.asked).toEqual([1])
  })

  test('does not read on to a page that the service refuses', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => (i < 12 ? ongoing(i + 1) : call(i + 1)))
    const { poll, service, memory } = await afterTheFirst(calls)
    memory.refusedFrom = 3
    await poll()
    expect(service.asked).toEqual([1, 2])
  })

  test('continues its sweep if a page fails while it reads on', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => (i < 12 ? ongoing(i + 1) : call(i + 1)))
    const { next, service } = await afterTheFirst(calls, { sweepInterval: 0 })
    let failures = 1
    service.fails = (_operation, page) =>
      page === 2 && failures-- > 0 ? new ServiceError('server', 'it is down') : undefined
    expect(await next()).toEqual(['incremental', [1, 2, 1, 2, 3]])
  })

  test('does not read on for open calls that are missing on the pages that it has read', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => (i < 4 ? ongoing(i + 1) : call(i + 1)))
    const { poll, service } = await afterTheFirst(calls)
    // Three have vanished, and others are in their places.
    service.calls = [calls[0]!, ...calls.slice(4), call(41), call(42), call(43)]
    await poll()
    expect(service.asked).toEqual([1])
  })

  test('reads on for open calls of a list that is oldest first as well', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => (i < 12 ? ongoing(i + 1) : call(i + 1)))
    const { poll, service } = await afterTheFirst(calls.toReversed())
    await poll()
    expect(service.asked).toEqual([10, 11, 9, 8])
  })

  test('reads on for no more pages than a poll may read', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => ongoing(i + 1))
    const { poll, service } = await afterTheFirst(calls, { slice: 2 })
    await poll()
    expect(service.asked).toEqual([1, 2, 3])
  })

  test('reads an oldest-first list from its end', async () => {
    const { service, next, tracked } = await afterTheFirst(numbered(1, 40).toReversed())
    // The last page is full, so each poll checks whether the list continues after it.
    expect(await next()).toEqual(['incremental', [10, 11]])
    service.calls = numbered(-5, 40).toReversed()
    expect(await next()).toEqual(['incremental', [10, 12, 11, 10]])
    expect(tracked()).toBe(46)
    expect(await next()).toEqual(['incremental', [12]])
  })

  test('reads the oldest end if the total is too small, and calls that left there explain it', async () => {
    const { service, next } = await afterTheFirst()
    service.calls = numbered(0, 38)
    expect(await next()).toEqual(['incremental', [1, 10]])
    service.calls = numbered(-1, 37)
    expect(await next()).toEqual(['incremental', [1, 10]])
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('reads on for new calls that are hidden by calls that left', async () => {
    const { service, next, book } = await afterTheFirst()
    service.calls = numbered(-5, 37)
    expect(await next()).toEqual(['incremental', [1, 2, 11]])
    expect(book.state.calls.has('call -5')).toBe(true)
    service.calls = numbered(-10, 35)
    expect((await next())[0]).toBe('incremental')
    expect(book.state.calls.has('call -10')).toBe(true)
  })

  test('reads on after a page with only new calls, though the total fits because others left', async () => {
    const { service, next, book } = await afterTheFirst()
    service.calls = numbered(-4, 39)
    expect((await next())[0]).toBe('incremental')
    expect(book.state.calls.has('call 0')).toBe(true)
  })

  test('does not count calls as new that are before the horizon and excluded in every poll', async () => {
    const { next } = await afterTheFirst([...numbered(1, 2), ...numbered(50, 87)], { lookback: 20, slice: 100 })
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('with an unexplained total requests the same again, then the oldest end, and then reads the whole list', async () => {
    const { service, next, book, poll } = await afterTheFirst()
    service.calls = [...numbered(1, 20), seen('late', 'ended', { endedAt: CREATED - 20 }), ...numbered(21, 40)]
    const { problem } = await poll()
    expect([problem?.message.slice(0, 57), service.asked]).toEqual([
      'the service lists 41 calls where 40 were expected: it wil',
      [1],
    ])
    expect(await next()).toEqual(['unsuccessful', [1, 11]])
    const [kind, asked] = await next()
    expect([kind, asked]).toEqual(['complete', [1, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]])
    expect(book.state.calls.has('late')).toBe(true)
  })

  test('without a total verifies nothing, and reads the list to its end', async () => {
    const { service, poll, book } = await afterTheFirst()
    service.calls = numbered(-5, 40)
    service.says = { total: undefined, totalPages: undefined }
    expect((await poll()).success?.movesHorizon).toBe(true)
    expect(book.state.calls.has('call 0')).toBe(true)
  })

  test('is possible after a restart', async () => {
    const { service, book, poll } = await afterTheFirst()
    const restarted = newListMemory(book.state.sync, 0)
    service.asked.length = 0
    const options = { memory: restarted, state: book.state, clock: virtualClock(), horizon: 0, sweepInterval: 900 }
    const fetchPage = (page: number) => service.client.listCalls(page, new AbortController().signal)
    const again = newPoll()
    for await (const _page of readList(again, {
      ...options,
      slice: 3,
      maySweep: () => true,
      interval: 15,
      pageSize: 4,
      wanted: () => [],
      fetchPage,
    }))
      continue
    expect([again.success?.movesHorizon, service.asked]).toEqual([false, [1]])
    expect(poll).toBeDefined()
  })

  test('counts calls as new that an earlier poll saw but could not verify', async () => {
    const { service, next } = await afterTheFirst()
    service.calls = numbered(-5, 40)
    service.fails = (_operation, page) => (page === 2 ? new ServiceError('server', 'it is down') : undefined)
    expect((await next())[0]).toBe('unsuccessful')
    service.fails = () => undefined
    expect(await next()).toEqual(['incremental', [1, 2]])
  })

  test('drops the order at the first contradiction, and learns it again', async () => {
    const { service, next, memory } = await afterTheFirst(numbered(1, 40), { pageSize: 10, slice: 10 })
    service.calls = numbered(1, 40).toReversed()
    expect((await next())[0]).toBe('complete')
    expect(knownOrder(memory.order)).toBe('oldest first')
    service.calls = numbered(0, 40).toReversed()
    expect(await next()).toEqual(['incremental', [4, 5, 4]])
  })
})
