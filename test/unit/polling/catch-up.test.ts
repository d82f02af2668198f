import { describe, expect, test } from 'vitest'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { forgetReadings } from '../../../src/polling/list/list-state.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { call, numbered, ongoing, polling } from './polling.ts'

const DOWN = new ServiceError('server', 'it is down', { status: 503 })

/** Polls of a list of forty calls, in pages of ten, after the sweep that the first one did. */
async function afterTheFirst(calls = numbered(1, 40), options: Parameters<typeof polling>[0] = {}) {
  const world = polling({ pageSize: 10, sweepInterval: 10_000, ...options })
  world.service.calls = calls
  await world.untilComplete()
  await world.clock.advance(600)
  /** New calls in front of all others, the newest one first; returns their numbers. */
  const comeIn = (count: number, list = world.service.calls) => {
    const latest = world.newest()
    const numbers = Array.from({ length: count }, (_, n) => latest + n)
    world.service.calls = [...numbers.map(call), ...list]
    return numbers
  }
  return { ...world, comeIn }
}

describe('a poll', () => {
  test('reads one page if nothing is new', async () => {
    const { next } = await afterTheFirst()
    expect(await next()).toEqual(['incremental', [1]])
  })

  test.each([
    [1, [1]],
    [5, [1]],
    [6, [1, 2]],
    [10, [1, 2, 1]],
    [15, [1, 2]],
    [16, [1, 2, 3]],
  ])('reads on until it joins what was known, after %i new calls', async (count, pages) => {
    const { comeIn, next, book } = await afterTheFirst()
    comeIn(count)
    expect(await next()).toEqual(['incremental', pages])
    expect(book.finished()).toBe(count)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test.each<[string, (calls: SeenCall[]) => SeenCall[]]>([
    ['at the other end', (calls) => calls.slice(0, -12)],
    ['in the middle', (calls) => calls.toSpliced(15, 12)],
    ['among the newest', (calls) => calls.toSpliced(1, 3)],
  ])('reads one page, though calls leave %s', async (_where, leave) => {
    const { service, comeIn, next, book } = await afterTheFirst()
    comeIn(1, leave(service.calls))
    expect(await next()).toEqual(['incremental', [1]])
    expect(book.finished()).toBe(1)
  })

  test('reads all that came in, though each page shows some of the one before again', async () => {
    const { service, newest, next, book } = await afterTheFirst()
    service.says = { total: undefined, totalPages: undefined }
    const came = numbered(newest(), newest() + 99)
    service.calls = [...came.slice(30), ...service.calls]
    // Six come in before each of the next five pages.
    service.beforePage = (page) => {
      if (page > 1 && page < 7) service.calls = [...came.slice(36 - 6 * page, 42 - 6 * page), ...service.calls]
    }
    await next()
    service.beforePage = () => undefined
    await next()
    expect(book.finished()).toBe(100)
  })

  test('joins below open calls, which may move', async () => {
    const { next } = await afterTheFirst([...Array.from({ length: 7 }, (_, n) => ongoing(n)), ...numbered(8, 40)])
    // Three settled rows are on the first page.
    expect(await next()).toEqual(['incremental', [1, 2]])
  })

  test('reads no more of a list of a few calls than its page', async () => {
    const { comeIn, next } = await afterTheFirst(numbered(1, 3))
    expect(await next()).toEqual(['incremental', [1]])
    comeIn(1)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('finds a call that moved to the page before when another left the list', async () => {
    const { service, comeIn, poll, book } = await afterTheFirst()
    const numbers = comeIn(14)
    // The eleventh new call is first on the second page, until the third one leaves.
    service.beforePage = (page) => {
      if (page === 2 && service.asked.length === 2) service.calls = service.calls.toSpliced(2, 1)
    }
    expect((await poll()).success).toBeDefined()
    expect(service.asked).toEqual([1, 2, 1])
    expect([book.finished(), book.state.calls.has(`call ${numbers[10]}`)]).toEqual([14, true])
  })

  test('with more new calls than it can read is continued by the next polls, and nothing is read twice', async () => {
    const { comeIn, wait, service, next, book } = await afterTheFirst()
    const wasFound = comeIn(95)
    service.beforePage = () => void wait(5)
    // Each answer takes five seconds, and a poll 13.5 at most; those that continue a reading take up to thirty.
    expect(await next()).toEqual(['unsuccessful', [1, 2, 3]])
    const [kind, asked] = await next()
    expect([kind, asked]).toEqual(['unsuccessful', [4, 5, 6, 7, 8, 9]])
    // Then another one shows what came in meanwhile.
    const later = comeIn(3)
    expect(await next()).toEqual(['incremental', [10, 11, 1]])
    expect(book.finished()).toBe(wasFound.length + later.length)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('continues, after a page that failed, with that page, and then shows what came in meanwhile', async () => {
    const { comeIn, service, next, book } = await afterTheFirst()
    comeIn(25)
    service.fails = (_operation, page) => (page === 3 ? DOWN : undefined)
    expect((await next())[0]).toBe('unsuccessful')
    service.fails = () => undefined
    comeIn(2)
    expect((await next())[0]).toBe('incremental')
    expect(book.finished()).toBe(27)
  })

  test('shows no disorder and no late calls, though two pages of calls have come in before it continues', async () => {
    const { comeIn, service, poll, clock, memory, book } = await afterTheFirst()
    const order = memory.list?.order
    comeIn(25)
    service.fails = (_operation, page) => (page === 3 ? DOWN : undefined)
    await poll()
    service.fails = () => undefined
    await clock.advance(30)
    comeIn(22)
    expect((await poll()).success).toBeDefined()
    const { list } = memory
    expect([list?.order, list?.overlap, list?.elsewhere]).toEqual([order, undefined, undefined])
    expect(book.finished()).toBe(47)
  })

  test('that was not committed is read again, from what was committed', async () => {
    const { comeIn, service, next, memory, book } = await afterTheFirst()
    comeIn(25)
    service.fails = (_operation, page) => (page === 3 ? DOWN : undefined)
    await next()
    service.fails = () => undefined
    forgetReadings(memory, book.state.sync)
    expect((await next())[1].slice(0, 3)).toEqual([1, 2, 3])
    expect(book.finished()).toBe(25)
  })

  test('of another daemon, or after a restart, joins what was committed', async () => {
    const { service, book, newest } = await afterTheFirst()
    const other = polling({ book, pageSize: 10 })
    other.service.calls = [...numbered(newest(), newest() + 11), ...service.calls]
    expect(await other.next()).toEqual(['incremental', [1, 2]])
    expect(book.finished()).toBe(12)
  })

  test('with larger pages joins what was read in smaller ones', async () => {
    const { service, book, newest } = await afterTheFirst()
    const other = polling({ book, pageSize: 20 })
    other.service.calls = [...numbered(newest(), newest() + 11), ...service.calls]
    expect(await other.next()).toEqual(['incremental', [1]])
    expect(book.finished()).toBe(12)
  })

  test('that joins nowhere, since the list has forgotten what was known, is complete for what it shows', async () => {
    const { service, next, book, newest } = await afterTheFirst()
    service.calls = numbered(newest(), newest() + 33)
    expect(await next()).toEqual(['complete', [1, 2, 3, 4, 5]])
    expect(book.finished()).toBe(34)
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('reads a list from the other end once its order has changed', async () => {
    const { service, comeIn, next, book } = await afterTheFirst()
    service.calls = service.calls.toReversed()
    expect((await next())[0]).not.toBe('unsuccessful')
    service.calls = service.calls.toReversed()
    comeIn(2)
    service.calls = service.calls.toReversed()
    // The last page was the fourth one, and the rows on the fifth are all new.
    expect(await next()).toEqual(['incremental', [4, 5, 6, 4]])
    expect(book.finished()).toBe(2)
  })
})

describe('a poll of a list that grows at its last page', () => {
  async function oldestFirst(size: number) {
    const world = await afterTheFirst(numbered(1, size).toReversed())
    const add = (count: number) => {
      const newest = world.newest()
      world.service.calls = [...world.service.calls, ...numbered(newest, newest + count - 1).toReversed()]
    }
    return { ...world, add }
  }

  test.each<[number, number, number[]]>([
    [37, 0, [4]],
    // A full page may not be the last one.
    [40, 0, [4, 5]],
    [37, 2, [4]],
    // Another page follows, all of whose rows are new.
    [37, 7, [4, 5, 6, 4]],
    [40, 3, [4, 5, 6, 4]],
  ])('of %i calls reads it first, after %i new calls', async (size, count, pages) => {
    const { service, add, next, book } = await oldestFirst(size)
    // Without a total there is no hint.
    service.says = { total: undefined, totalPages: undefined }
    if (count > 0) add(count)
    const [kind, asked] = await next()
    expect([kind, asked]).toEqual(['incremental', pages])
    expect(book.finished()).toBe(count)
  })

  test('finds it though the list has got shorter', async () => {
    const { service, add, next, book } = await oldestFirst(77)
    service.calls = service.calls.slice(50)
    add(2)
    expect((await next())[0]).toBe('incremental')
    expect(book.finished()).toBe(2)
  })
})

describe('a poll reads on for open calls', () => {
  const withOpen = (...numbers: number[]) =>
    numbered(1, 40).map((one, n) => (numbers.includes(n + 1) ? ongoing(n + 1) : one))

  test('as long as that saves more requests than it costs', async () => {
    // The second page has three open calls, the third one; a single one further back gets a follow-up.
    const { poll, service } = await afterTheFirst(withOpen(1, 12, 14, 18, 25))
    const { listed, success } = await poll()
    expect([service.asked, success?.endsSweep]).toEqual([[1, 2], false])
    expect([...listed.keys()].toSorted()).toEqual(['call 1', 'call 12', 'call 14', 'call 18'])
  })

  test('but not for details of final calls, which a list does not show', async () => {
    const { next } = await afterTheFirst(numbered(1, 40), { isWanted: () => true })
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('but not to a page that the service refuses', async () => {
    const { memory, next } = await afterTheFirst(withOpen(11, 12, 13, 21, 22, 23))
    memory.depth.refusedFrom = 3
    expect(await next()).toEqual(['incremental', [1, 2]])
  })

  test('but not for those that the pages should have shown', async () => {
    const { service, next } = await afterTheFirst(withOpen(1, 2, 3, 4))
    // Three have vanished, and others are in their places.
    service.calls = [service.calls[0]!, ...service.calls.slice(4), ...numbered(41, 43)]
    expect(await next()).toEqual(['incremental', [1]])
  })

  test('from the last page back, where the list grows there', async () => {
    const { next } = await afterTheFirst(withOpen(9, 10, 11, 20, 21).toReversed().slice(3))
    expect(await next()).toEqual(['incremental', [4, 3, 2]])
  })

  test('on as many pages as a slice of a sweep has', async () => {
    const open = Array.from({ length: 30 }, (_, n) => n + 11)
    const { next } = await afterTheFirst(withOpen(...open), { slice: 2 })
    expect(await next()).toEqual(['incremental', [1, 2, 3]])
  })

  test('and its sweep goes on, though a page fails there', async () => {
    const { service, next, clock } = await afterTheFirst(withOpen(11, 12, 13))
    await clock.advance(10_000)
    let failures = 1
    service.fails = (_operation, page) => (page === 2 && failures-- > 0 ? DOWN : undefined)
    expect(await next()).toEqual(['incremental', [1, 2, 2, 3, 4]])
  })
})
