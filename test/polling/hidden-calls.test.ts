import { describe, expect, test } from 'vitest'
import { newListMemory } from '../../src/polling/list-memory.ts'
import { CREATED } from '../ledger/seen.ts'
import { call, polling, numbered } from './polling.ts'

/** A service whose total counts hidden calls. */
function hiding(hidden: number, options?: Parameters<typeof polling>[0]) {
  const world = polling(options)
  const { service } = world
  const rows = { hidden }
  Object.defineProperty(service, 'says', {
    get: () => {
      const total = service.calls.length + rows.hidden
      return { total, totalPages: Math.ceil(total / 4) }
    },
  })
  return { ...world, rows }
}

describe('calls that the total counts and no page shows', () => {
  test('are known as hidden calls once two sweeps to the end lack the same number, and then the poll is successful', async () => {
    const { service, poll, memory, tracked } = hiding(2)
    service.calls = numbered(1, 22)
    const first = await poll()
    expect([first.success, memory.traits.hidden, memory.traits.shortfall?.items]).toEqual([undefined, 0, 2])
    expect(first.problem?.message).toBe('the service says that it lists 24 calls, but only 22 were found on its pages')
    const second = await poll()
    expect([second.success?.movesHorizon, second.limited, second.problem]).toEqual([true, false, undefined])
    expect([memory.traits.hidden, memory.traits.shortfall, tracked()]).toEqual([2, undefined, 22])
  })

  test('are subtracted once they are known: incremental polls are verified, and sweeps complete', async () => {
    const { service, poll, next, has, untilComplete } = hiding(2, { sweepInterval: 120 })
    service.calls = numbered(1, 22)
    for (let polls = 0; polls < 2; polls++) await poll()
    expect(await next()).toEqual(['incremental', [1]])
    service.calls = numbered(-1, 22)
    expect(await next()).toEqual(['incremental', [1]])
    expect(has(-1)).toBe(true)
    await untilComplete()
    expect((await poll()).problem).toBeUndefined()
  })

  test('are still known after a restart', async () => {
    const { service, poll, memory, book, next } = hiding(2)
    service.calls = numbered(1, 22)
    for (let polls = 0; polls < 2; polls++) await poll()
    Object.assign(memory, newListMemory(book.state.sync, 0))
    expect(memory.traits.hidden).toBe(2)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('are not known if two sweeps lack different numbers', async () => {
    const { service, poll, memory, rows } = hiding(2)
    service.calls = numbered(1, 22)
    for (const hidden of [2, 3, 1]) {
      rows.hidden = hidden
      expect((await poll()).success).toBeUndefined()
      expect(memory.traits).toMatchObject({ hidden: 0, shortfall: { items: hidden } })
    }
  })

  test.each([
    ['appear', 0, 24],
    ['leave', 0, 22],
    ['appear in part', 1, 23],
  ])('are fewer once some %s', async (_what, hidden, listed) => {
    const { service, poll, memory, rows, tracked, untilComplete } = hiding(2, { sweepInterval: 60 })
    service.calls = numbered(1, 22)
    for (let polls = 0; polls < 2; polls++) await poll()
    rows.hidden = hidden
    service.calls = [...numbered(1, 22), ...numbered(23, 24).slice(0, listed - 22)]
    await untilComplete()
    await untilComplete()
    expect([memory.traits.hidden, tracked()]).toEqual([hidden, listed])
  })

  test('are known in a list without order as well, though calls are added while it is read', async () => {
    const { service, wait, clock, poll, memory } = hiding(2)
    service.calls = Array.from({ length: 22 }, (_none, n) => call(((n * 17) % 23) + 1))
    let passes = 0
    service.beforePage = (page) => {
      wait(5)
      service.ahead += 5
      if (page !== 4) return
      passes += 1
      const latest = Math.floor(CREATED - clock.wall() - service.ahead)
      const fresh = numbered(latest, latest + (passes % 4) - 1)
      service.calls = [...service.calls.slice(0, 10), ...fresh, ...service.calls.slice(10)]
    }
    let successful = 0
    for (let polls = 0; polls < 100; polls++) if ((await poll()).success?.movesHorizon) successful += 1
    expect([successful > 2, memory.traits.hidden]).toEqual([true, 2])
  })

  test('are more once two more sweeps lack the same number', async () => {
    const { service, poll, memory, rows } = hiding(1)
    service.calls = numbered(1, 22)
    for (let polls = 0; polls < 2; polls++) await poll()
    rows.hidden = 3
    for (let polls = 0; polls < 8; polls++) await poll()
    const { success, problem } = await poll()
    expect([memory.traits.hidden, success !== undefined, problem]).toEqual([3, true, undefined])
  })
})

describe('a total that no sweep can reach', () => {
  test('counts hidden calls if an id has two rows', async () => {
    const { service, poll, next, memory } = polling()
    service.calls = [...numbered(1, 22), ...numbered(5, 5)]
    await poll()
    await poll()
    expect(memory.traits.hidden).toBe(1)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('is none if the service sends only a number of pages: the list is read until a page is empty', async () => {
    const { service, poll, tracked } = polling()
    service.calls = numbered(1, 22)
    service.says = { total: undefined, totalPages: 3 }
    const { success, problem } = await poll()
    expect([success?.movesHorizon, problem, tracked()]).toEqual([true, undefined, 22])
  })

  test('counts hidden calls if deep pages repeat an earlier one', async () => {
    const { service, poll, tracked, memory } = polling()
    service.calls = numbered(1, 40)
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => ({ ...(await listCalls(Math.min(page, 5), signal)), page })
    let last = await poll()
    for (let polls = 0; polls < 3 && last.success === undefined; polls++) last = await poll()
    expect([last.success !== undefined, last.limited, memory.traits.hidden, tracked()]).toEqual([true, false, 20, 20])
  })

  test('counts hidden calls of a list without order as well if deep pages repeat an earlier one', async () => {
    const { service, poll, wait, memory } = polling()
    service.calls = Array.from({ length: 40 }, (_none, n) => call(((n * 17) % 41) + 1))
    service.beforePage = () => void wait(2)
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => ({ ...(await listCalls(Math.min(page, 5), signal)), page })
    for (let polls = 0; polls < 60; polls++) await poll()
    expect(memory.traits.hidden).toBe(20)
  })

  test('limits the poll of a list that is newest first if deep pages are empty, and the pages before them count', async () => {
    const { service, poll, next, tracked, memory } = polling()
    service.calls = numbered(1, 40)
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => ({
      ...(await listCalls(page, signal)),
      ...(page > 5 && { calls: [], keys: [], items: 0 }),
    })
    const { success, limited } = await poll()
    expect([success?.movesHorizon, limited, memory.refusedFrom, tracked()]).toEqual([true, true, 6, 20])
    service.calls = numbered(0, 40)
    expect(await next()).toEqual(['incremental', [1]])
  })
})
