import { describe, expect, test } from 'vitest'
import { newListMemory } from '../../src/polling/list-memory.ts'
import type { ListPage } from '../../src/polling/poll-context.ts'
import { isLastPageSuspicious } from '../../src/polling/total-cap.ts'
import { call, polling, numbered } from './polling.ts'

/** A service that stops counting at a number, though more pages follow. */
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

describe('a total that stops at a cap', () => {
  test('is found with one more page, and the list is read to its end without it', async () => {
    const { service, next, memory, tracked } = capped(12)
    service.calls = numbered(1, 22)
    expect(await next()).toEqual(['complete', [1, 2, 3, 4, 5, 6, 7]])
    expect([memory.traits.cap, tracked()]).toEqual([12, 22])
  })

  test('is ignored from then on, and verifies no incremental poll', async () => {
    const { service, poll, book, tracked } = capped(12)
    service.calls = numbered(1, 22)
    await poll()
    service.calls = numbered(0, 22)
    expect((await poll()).success?.movesHorizon).toBe(true)
    expect([tracked(), book.state.sync.list]).toEqual([23, undefined])
  })

  test('is used again below the cap', async () => {
    const { service, poll, next } = capped(12)
    service.calls = numbered(1, 22)
    await poll()
    service.calls = numbered(1, 11)
    await poll()
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('is no cap if the list ends with it, because some lists keep a fixed number of calls', async () => {
    const { service, poll, next, memory } = capped(12)
    service.calls = numbered(1, 22)
    await poll()
    service.calls = numbered(1, 12)
    await poll()
    expect(memory.traits.cap).toBeUndefined()
    await poll()
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('is found if a list that is oldest first grows beyond it between two polls', async () => {
    const { service, poll, memory, tracked, has } = capped(12)
    service.calls = numbered(1, 10).toReversed()
    for (let polls = 0; polls < 2; polls++) await poll()
    service.calls = numbered(-5, 10).toReversed()
    for (let polls = 0; polls < 2; polls++) await poll()
    expect([memory.traits.cap, tracked(), has(-5)]).toEqual([12, 16, true])
  })

  test('is found if a list that is oldest first reaches it exactly, and then grows beyond it', async () => {
    const { service, poll, tracked } = capped(12)
    service.calls = numbered(1, 12).toReversed()
    for (let polls = 0; polls < 2; polls++) await poll()
    service.calls = numbered(-5, 12).toReversed()
    for (let polls = 0; polls < 5; polls++) await poll()
    expect(tracked()).toBe(18)
  })
})

describe('a correct total', () => {
  test('costs one more page if the last page is full', async () => {
    const { service, next, memory } = polling()
    service.calls = numbered(1, 12)
    expect(await next()).toEqual(['complete', [1, 2, 3, 4]])
    memory.order = { rises: 0, falls: 0 }
    memory.traits = { ...memory.traits, orderRefutedAt: Infinity }
    expect(await next()).toEqual(['complete', [1, 2, 3, 4]])
    expect(memory.traits.cap).toBeUndefined()
  })

  test('is no cap if a call was added while the last page was read', async () => {
    const { service, next, memory } = polling()
    service.calls = numbered(1, 12)
    service.beforePage = (page) => {
      if (page === 4) service.calls = numbered(0, 12)
    }
    await next()
    expect(memory.traits.cap).toBeUndefined()
  })
})

describe('the last page by the total', () => {
  const isSuspicious = (
    items: number,
    page: number,
    lastPage: number,
    pageSize: number,
    requested: number,
    total = 0,
  ) => {
    const listed = { page, lastPage, items, total, calls: Array.from({ length: items }, (_, n) => call(n)) }
    const memory = { ...newListMemory({ list: undefined }, 0), pageSize }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other fields of a page do not matter
    return isLastPageSuspicious(listed as unknown as ListPage, memory, requested)
  }
  test.each([
    ['suspicious if it has as many items as were requested', isSuspicious(10, 3, 3, 10, 10), true],
    ['not suspicious if it has fewer items than were requested', isSuspicious(9, 3, 3, 10, 10), false],
    [
      'suspicious if it has as many items as any page of a service that shows fewer than were requested',
      isSuspicious(5, 3, 3, 5, 10),
      true,
    ],
    ['not suspicious if it is the only one, with fewer items than were requested', isSuspicious(5, 1, 1, 5, 10), false],
    ['suspicious if it is the only one, with as many items as were requested', isSuspicious(10, 1, 1, 10, 10), true],
    ['suspicious if it is full, with smaller pages than before', isSuspicious(5, 3, 3, 10, 5), true],
    ['not suspicious if it is not the last one', isSuspicious(10, 2, 3, 10, 10), false],
    ['suspicious if it has fewer items than the total says', isSuspicious(5, 3, 3, 10, 10, 27), true],
    ['not suspicious if it has as many items as the total says', isSuspicious(7, 3, 3, 10, 10, 27), false],
  ])('is %s', (_what, found, expected) => {
    expect(found).toBe(expected)
  })
})
