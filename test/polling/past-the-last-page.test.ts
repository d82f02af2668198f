import { describe, expect, test } from 'vitest'
import { newListMemory } from '../../src/polling/list-memory.ts'
import { newPoll } from '../../src/polling/poll.ts'
import { readList } from '../../src/polling/read-list.ts'
import { ServiceError } from '../../src/service/service-error.ts'
import { polling, numbered } from './polling.ts'

const REFUSALS = [
  ['404', () => new ServiceError('not_found', 'no such page', { status: 404 })],
  ['400', () => new ServiceError('refused', 'page out of range', { status: 400 })],
] as const

describe.each(REFUSALS)('a page past the last one that is answered with %s', (status, refusal) => {
  /** A service that refuses pages past the last one. */
  function refusing(options?: Parameters<typeof polling>[0]) {
    const world = polling(options)
    const { service } = world
    service.fails = (_operation, page) =>
      Number(page) > Math.max(1, Math.ceil(service.calls.length / (options?.pageSize ?? 4))) ? refusal() : undefined
    return world
  }

  test('is an empty page if the last page is full', async () => {
    const { service, next, tracked } = refusing()
    service.calls = numbered(1, 12)
    expect(await next()).toEqual(['complete', [1, 2, 3, 4, 1]])
    expect([tracked(), await next()]).toEqual([12, ['incremental', [1]]])
  })

  test('is an empty page if a list that is oldest first got shorter, and its first page shows the new last one', async () => {
    const { service, next, poll, has } = refusing()
    service.calls = numbered(1, 40).toReversed()
    await poll()
    service.calls = numbered(0, 20).toReversed()
    const polls = [await next(), await next(), await next(), await next()]
    expect(polls.map(([kind]) => kind)).toContain('complete')
    expect(has(0)).toBe(true)
    expect((await poll()).problem).toBeUndefined()
  })

  test('is an empty page if hidden calls make it the last one by the total', async () => {
    const { service, poll } = refusing({ pageSize: 4 })
    const grow = (to: number) => {
      service.calls = numbered(1, to).toReversed()
      service.says = { total: to + 2, totalPages: undefined }
    }
    grow(10)
    for (let polls = 0; polls < 4; polls++) await poll()
    grow(11)
    const polls = [await poll(), await poll(), await poll(), await poll()]
    expect(polls.map(({ success }) => success !== undefined)).toContain(true)
    expect(polls.at(-1)?.problem).toBeUndefined()
  })

  test('is an empty page if the list got shorter during a restart', async () => {
    const { service, poll, book, memory, has } = refusing()
    service.calls = numbered(1, 40).toReversed()
    await poll()
    Object.assign(memory, newListMemory(book.state.sync, 0))
    service.calls = numbered(0, 20).toReversed()
    for (let polls = 0; polls < 4; polls++) await poll()
    expect(has(0)).toBe(true)
    expect((await poll()).success).toBeDefined()
  })

  test('is an empty page if larger pages are requested than before, oldest first', async () => {
    const { service, clock, poll, book, has } = refusing()
    service.calls = numbered(1, 40).toReversed()
    await poll()
    const larger = refusing({ pageSize: 20 })
    larger.service.calls = numbered(0, 40).toReversed()
    const again = newPoll()
    const pages = readList(again, {
      memory: newListMemory(book.state.sync, 0),
      state: book.state,
      clock,
      horizon: 0,
      sweepInterval: 900,
      slice: 3,
      maySweep: () => true,
      interval: 15,
      pageSize: 20,
      wanted: () => [],
      fetchPage: (page) => larger.service.client.listCalls(page, new AbortController().signal),
    })
    const seen = new Set<string>()
    for await (const { calls } of pages) for (const { id } of calls) seen.add(id)
    expect([again.success !== undefined, again.problem, seen.has('call 0'), has(0)]).toEqual([
      true,
      undefined,
      true,
      false,
    ])
  })

  test('ends a list without a total that is read until a page is empty', async () => {
    const { service, poll, tracked } = refusing()
    service.calls = numbered(1, 10)
    service.says = { total: undefined, totalPages: undefined }
    let last = await poll()
    for (let polls = 0; polls < 2 && last.success === undefined; polls++) last = await poll()
    expect([last.success?.movesHorizon, last.limited, tracked()]).toEqual([true, false, 10])
  })

  test.each([12, 40])('is a refusal if a total of %i says that there is such a page', async (total) => {
    const { service, poll } = polling()
    service.calls = numbered(1, total)
    service.fails = (_operation, page) => (page === 3 ? refusal() : undefined)
    const { success, problem } = await poll()
    expect([success, problem?.status]).toEqual([undefined, Number(status)])
  })

  test('is a refusal if it is the first page', async () => {
    const { service, poll } = polling()
    service.fails = () => refusal()
    const { success, problem } = await poll()
    expect([success, problem?.status, service.asked]).toEqual([undefined, Number(status), [1]])
  })
})

test.each([
  ['a server that is down', new ServiceError('server', 'it is down', { status: 503 })],
  ['an answer that cannot be read', new ServiceError('invalid', 'no JSON')],
])('%s does not count as a page past the last one', async (_what, problem) => {
  const { service, poll } = polling()
  service.calls = numbered(1, 12)
  service.fails = (_operation, page) => (page === 2 ? problem : undefined)
  expect((await poll()).problem).toBe(problem)
  expect(service.asked).toEqual([1, 2])
})
