import { describe, expect, test } from 'vitest'
import { newListMemory } from '../../src/polling/list-memory.ts'
import { polling, numbered } from './polling.ts'

/** A service whose total counts rows that no page shows. */
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

describe('rows that the total counts, and no page shows', () => {
  test('are known once two readings to the end lack as many, and the poll is successful then', async () => {
    const { service, poll, memory, remembered } = hiding(2)
    service.calls = numbered(1, 22)
    const first = await poll()
    expect([first.end, memory.facts.hidden, memory.facts.shortfall?.items]).toEqual([undefined, 0, 2])
    expect(first.problem?.message).toBe('the service says that it lists 24 calls, but only 22 were found on its pages')
    const second = await poll()
    expect([second.end?.complete, second.limited, second.problem]).toEqual([true, false, undefined])
    expect([memory.facts.hidden, memory.facts.shortfall, remembered()]).toEqual([2, undefined, 22])
  })

  test('are subtracted from then on: increments prove themselves, and sweeps are complete', async () => {
    const { service, poll, next, has, untilWhole } = hiding(2, { sweepInterval: 120 })
    service.calls = numbered(1, 22)
    for (let looks = 0; looks < 2; looks++) await poll()
    expect(await next()).toEqual(['incremental', [1]])
    service.calls = numbered(-1, 22)
    expect(await next()).toEqual(['incremental', [1]])
    expect(has(-1)).toBe(true)
    await untilWhole()
    expect((await poll()).problem).toBeUndefined()
  })

  test('are still known after a restart', async () => {
    const { service, poll, memory, book, next } = hiding(2)
    service.calls = numbered(1, 22)
    for (let looks = 0; looks < 2; looks++) await poll()
    Object.assign(memory, newListMemory(book.state.sync, 0))
    expect(memory.facts.hidden).toBe(2)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('are not taken for known where two readings lack another number', async () => {
    const { service, poll, memory, rows } = hiding(2)
    service.calls = numbered(1, 22)
    for (const hidden of [2, 3, 1]) {
      rows.hidden = hidden
      expect((await poll()).end).toBeUndefined()
      expect(memory.facts).toMatchObject({ hidden: 0, shortfall: { items: hidden } })
    }
  })

  test.each([
    ['come to light', 0, 24],
    ['leave', 0, 22],
    ['come to light in part', 1, 23],
  ])('are fewer once some %s', async (_what, hidden, listed) => {
    const { service, poll, memory, rows, remembered, untilWhole } = hiding(2, { sweepInterval: 60 })
    service.calls = numbered(1, 22)
    for (let looks = 0; looks < 2; looks++) await poll()
    rows.hidden = hidden
    service.calls = [...numbered(1, 22), ...numbered(23, 24).slice(0, listed - 22)]
    await untilWhole()
    await untilWhole()
    expect([memory.facts.hidden, remembered()]).toEqual([hidden, listed])
  })

  test('become more once two more readings lack as many', async () => {
    const { service, poll, memory, rows } = hiding(1)
    service.calls = numbered(1, 22)
    for (let looks = 0; looks < 2; looks++) await poll()
    rows.hidden = 3
    for (let looks = 0; looks < 8; looks++) await poll()
    const { end, problem } = await poll()
    expect([memory.facts.hidden, end !== undefined, problem]).toEqual([3, true, undefined])
  })
})

describe('a total that never fits', () => {
  test('for an id that stands in two rows is known in the same way', async () => {
    const { service, poll, next, memory } = polling()
    service.calls = [...numbered(1, 22), ...numbered(5, 5)]
    await poll()
    await poll()
    expect(memory.facts.hidden).toBe(1)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('for pages that are said without a total is none: the list is read until a page is empty', async () => {
    const { service, poll, remembered } = polling()
    service.calls = numbered(1, 22)
    service.says = { total: undefined, totalPages: 3 }
    const { end, problem } = await poll()
    expect([end?.complete, problem, remembered()]).toEqual([true, undefined, 22])
  })

  test('for deep pages that repeat one before them is known as calls that no page shows', async () => {
    const { service, poll, remembered, memory } = polling()
    service.calls = numbered(1, 40)
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => ({ ...(await listCalls(Math.min(page, 5), signal)), page })
    let looked = await poll()
    for (let looks = 0; looks < 3 && looked.end === undefined; looks++) looked = await poll()
    expect([looked.end !== undefined, looked.limited, memory.facts.hidden, remembered()]).toEqual([true, false, 20, 20])
  })

  test('for deep pages that are empty is limited, newest first, and the pages before them count', async () => {
    const { service, poll, next, remembered, memory } = polling()
    service.calls = numbered(1, 40)
    const { listCalls } = service.client
    service.client.listCalls = async (page, signal) => ({
      ...(await listCalls(page, signal)),
      ...(page > 5 && { calls: [], keys: [], items: 0 }),
    })
    const { end, limited } = await poll()
    expect([end?.complete, limited, memory.refusedFrom, remembered()]).toEqual([true, true, 6, 20])
    service.calls = numbered(0, 40)
    expect(await next()).toEqual(['incremental', [1]])
  })
})
