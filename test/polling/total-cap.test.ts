import { describe, expect, test } from 'vitest'
import { newListMemory } from '../../src/polling/list-memory.ts'
import type { ListPage } from '../../src/polling/page-reader.ts'
import { isOddAtEnd } from '../../src/polling/total-cap.ts'
import { call, polling, numbered } from './polling.ts'

/** A service that stops counting at a number: the pages go on behind it. */
function capped(cap: number, options?: Parameters<typeof polling>[0]) {
  const world = polling(options)
  const { service } = world
  Object.defineProperty(service, 'says', {
    get: () => {
      const total = Math.min(cap, service.calls.length)
      return { total, totalPages: Math.ceil(total / 4) }
    },
  })
  return world
}

describe('a total that stops at a round number', () => {
  test('is found out by one page more, and the list is read to its end without it', async () => {
    const { service, next, memory, remembered } = capped(12)
    service.calls = numbered(1, 22)
    expect(await next()).toEqual(['whole', [1, 2, 3, 4, 5, 6, 7]])
    expect([memory.facts.cap, remembered()]).toEqual([12, 22])
  })

  test('says nothing from then on, and explains no new calls', async () => {
    const { service, poll, book, remembered } = capped(12)
    service.calls = numbered(1, 22)
    await poll()
    service.calls = numbered(0, 22)
    expect((await poll()).end?.complete).toBe(true)
    expect([remembered(), book.state.sync.list]).toEqual([23, undefined])
  })

  test('is one again below that number', async () => {
    const { service, poll, next } = capped(12)
    service.calls = numbered(1, 22)
    await poll()
    service.calls = numbered(1, 11)
    await poll()
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('is refuted where the list ends with it: one that keeps so many calls never says a larger one', async () => {
    const { service, poll, next, memory } = capped(12)
    service.calls = numbered(1, 22)
    await poll()
    service.calls = numbered(1, 12)
    await poll()
    expect(memory.facts.cap).toBeUndefined()
    await poll()
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('is found out where a list that is oldest first grows beyond it between two polls', async () => {
    const { service, poll, memory, remembered, has } = capped(12)
    service.calls = numbered(1, 10).toReversed()
    for (let looks = 0; looks < 2; looks++) await poll()
    service.calls = numbered(-5, 10).toReversed()
    for (let looks = 0; looks < 2; looks++) await poll()
    expect([memory.facts.cap, remembered(), has(-5)]).toEqual([12, 16, true])
  })

  test('is found out where a list that is oldest first came to it exactly, and then grows beyond it', async () => {
    const { service, poll, remembered } = capped(12)
    service.calls = numbered(1, 12).toReversed()
    for (let looks = 0; looks < 2; looks++) await poll()
    service.calls = numbered(-5, 12).toReversed()
    for (let looks = 0; looks < 5; looks++) await poll()
    expect(remembered()).toBe(18)
  })
})

describe('a total that is right', () => {
  test('of a list whose last page is full costs one page more', async () => {
    const { service, next, memory } = polling()
    service.calls = numbered(1, 12)
    expect(await next()).toEqual(['whole', [1, 2, 3, 4]])
    memory.order = { rises: 0, falls: 0 }
    memory.facts = { ...memory.facts, orderRefutedAt: Infinity }
    expect(await next()).toEqual(['whole', [1, 2, 3, 4]])
    expect(memory.facts.cap).toBeUndefined()
  })

  test('is not doubted where a call came in while the last page was read', async () => {
    const { service, next, memory } = polling()
    service.calls = numbered(1, 12)
    service.beforePage = (page) => {
      if (page === 4) service.calls = numbered(0, 12)
    }
    await next()
    expect(memory.facts.cap).toBeUndefined()
  })
})

describe('the last page, by the total', () => {
  const isFull = (items: number, page: number, lastPage: number, pageSize: number, asked: number, total = 0) => {
    const listed = { page, lastPage, items, total, calls: Array.from({ length: items }, (_, n) => call(n)) }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of a page says nothing about it
    return isOddAtEnd(listed as unknown as ListPage, { ...newListMemory({ list: undefined }, 0), pageSize }, asked)
  }
  test.each([
    ['with as many items as were asked for', isFull(10, 3, 3, 10, 10), true],
    ['with fewer', isFull(9, 3, 3, 10, 10), false],
    ['with as many as any page has, of a service that shows fewer than were asked for', isFull(5, 3, 3, 5, 10), true],
    ['that is the only one, with fewer than were asked for', isFull(5, 1, 1, 5, 10), false],
    ['that is the only one, with as many', isFull(10, 1, 1, 10, 10), true],
    ['that is full by a smaller page than was asked for before', isFull(5, 3, 3, 10, 5), true],
    ['that another one follows', isFull(10, 2, 3, 10, 10), false],
    ['with fewer than the total has it', isFull(5, 3, 3, 10, 10, 27), true],
    ['with as many as the total has it', isFull(7, 3, 3, 10, 10, 27), false],
  ])('%s is doubted or is not', (_what, found, expected) => {
    expect(found).toBe(expected)
  })
})
