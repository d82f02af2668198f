import { describe, expect, test } from 'vitest'
import type { SeenCall } from '../../src/ledger/call.ts'
import { believedOrder, newListMemory } from '../../src/polling/list-memory.ts'
import { CREATED, seen } from '../ledger/seen.ts'
import { call, polling, numbered, ongoing } from './polling.ts'

const DAY = 86_400
/** Calls of another type, newest first. */
const videos = (from: number, to: number): SeenCall[] =>
  numbered(from, to).map((audio) => ({ ...audio, id: `video ${audio.id}`, type: 'video' }))
/** A final call without any time. */
const timeless = (n: number) => seen(`timeless ${n}`, 'ended')
/** Open calls that are days older than all others. */
const stuck = Array.from({ length: 20 }, (_, n) => ongoing(10_000 + n))
/** Old calls that were imported: newest first among themselves, and listed before all others. */
const imported = numbered(2000, 2019)

/** Lists that are in order inside each page, or nearly, but not from one page to the next; new calls are in the middle. */
const LISTS: [string, (fresh: SeenCall[]) => SeenCall[]][] = [
  ['by type and then by time', (fresh) => [...videos(1, 60), ...fresh, ...numbered(1, 60)]],
  ['with open calls first, many of them stuck', (fresh) => [...stuck, ...fresh, ...numbered(1, 60)]],
  ['with an import of old calls on top', (fresh) => [...imported, ...fresh, ...numbered(1, 60)]],
]

describe.each(LISTS.flatMap(([what, list]) => [10, 3].map((pageSize) => ({ what, list, pageSize }))))(
  'a list $what, in pages of $pageSize',
  ({ list, pageSize }) => {
    async function read() {
      const world = polling({ lookback: 30, pageSize, slice: 14 })
      world.service.calls = list([])
      await world.poll()
      return world
    }

    test('is read to its end, and a new call in the middle is not missed', async () => {
      const { service, poll, has, isVerified, newest } = await read()
      for (let polls = 0; polls < 12; polls++) await poll()
      expect(isVerified()).toBe(false)
      const n = newest()
      service.calls = list(numbered(n, n + 1))
      for (let polls = 0; polls < 3; polls++) await poll()
      expect([has(n), has(n + 1)]).toEqual([true, true])
    })

    test('has a refuted order after the first sweep to its end, and for a day, also after a restart', async () => {
      const { memory, poll, book } = await read()
      for (let polls = 0; polls < 12; polls++) await poll()
      const refuted = memory.traits.orderRefutedAt ?? NaN
      expect(refuted).toBeGreaterThan(CREATED)
      const restarted = newListMemory(book.state.sync, 0)
      restarted.order = { rises: 0, falls: 100 }
      expect(believedOrder(restarted, refuted + DAY - 1)).toBe('unknown')
      expect(believedOrder(restarted, refuted + DAY)).toBe('newest first')
    })
  },
)

test.each([3, 5, 8, 10])('the order of a list that is oldest first is verified, in pages of %i', async (pageSize) => {
  const { service, poll, isVerified, memory } = polling({ lookback: 30, pageSize, slice: 30 })
  service.calls = numbered(1, 60).toReversed()
  for (let polls = 0; polls < 5; polls++) await poll()
  expect([isVerified(), memory.traits.orderRefutedAt]).toEqual([true, undefined])
})

test('a few calls at the end that are spread over all times refute the order', async () => {
  const { service, memory, poll } = polling({ lookback: 30, pageSize: 20, slice: 4 })
  const answered = Array.from({ length: 54 }, (_, n) => call(100 * (n + 1)))
  const unanswered = [50, 350, 650, 950, 3050, 5050].map(call)
  service.calls = [...answered, ...unanswered]
  for (let polls = 0; polls < 4; polls++) await poll()
  expect(memory.traits.orderRefutedAt).toBeGreaterThan(CREATED)
})

test('a list without order is read on after its last page by the total if that page has not shown all', async () => {
  const { service, next } = polling()
  service.says = { totalPages: undefined }
  service.calls = Array.from({ length: 40 }, (_none, n) => call(((n * 17) % 41) + 1))
  const { listCalls } = service.client
  service.client.listCalls = async (page, signal) => {
    const repeated = page === 7 || page === 8 ? service.calls.slice((page - 1) * 4 - 2, (page - 1) * 4) : []
    const shown = await listCalls(page, signal)
    const calls = [...repeated, ...shown.calls]
    return { ...shown, calls, keys: calls.map(({ id }) => id), items: calls.length }
  }
  expect(await next()).toEqual(['complete', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]])
})

test('an order that was refuted while answers had a wrong Date is verified again later', async () => {
  const { service, poll, memory, isVerified } = polling({ lookback: 30, pageSize: 10, slice: 4, sweepInterval: 60 })
  service.calls = numbered(1, 60)
  await poll()
  service.calls = [...videos(1, 60), ...numbered(1, 60)]
  service.ahead = 74 * 365 * DAY
  for (let polls = 0; polls < 3; polls++) await poll()
  expect(memory.traits.orderRefutedAt).toBeGreaterThan(CREATED + 73 * 365 * DAY)
  service.ahead = 0
  service.calls = numbered(1, 60)
  for (let polls = 0; polls < 100; polls++) await poll()
  expect(isVerified()).toBe(true)
})

test('calls without any time at the end of a list do not refute its order, and are not missed', async () => {
  const { service, untilComplete, poll, book, isVerified } = polling({ lookback: 30, pageSize: 10, slice: 4 })
  service.calls = [...numbered(1, 60), ...[1, 2, 3].map(timeless)]
  await untilComplete()
  service.calls = [...numbered(0, 60), ...[0, 1, 2, 3].map(timeless)]
  for (let polls = 0; polls < 8; polls++) await poll()
  expect([book.state.calls.has('timeless 0'), isVerified()]).toEqual([true, true])
})

describe('the order of a list is verified', () => {
  const at = (n: number, seconds: number): SeenCall => ({ ...call(n), initiatedAt: CREATED + seconds })

  test.each<[string, SeenCall[]]>([
    [
      'if a call of each page has a wrong date',
      numbered(1, 60).map((one, i) => (i % 10 === 5 ? at(i + 1, 9000) : one)),
    ],
    [
      'if a call of each page has a date long ago',
      numbered(1, 60).map((one, i) => (i % 10 === 0 ? at(i + 1, -99_999) : one)),
    ],
    ['if all calls began at the same moment', numbered(1, 60).map((one, i) => (i < 20 ? one : at(i + 1, -500)))],
    ['if the last page has one call', numbered(1, 61)],
    [
      'if three calls in a row on the last page have a wrong date',
      numbered(1, 60).map((one, i) => (i > 56 ? at(i + 1, 9000) : one)),
    ],
    [
      'if neighbours are minutes out of place',
      Array.from({ length: 60 }, (_, i) => at(i + 1, -1000 - 20 * i + (i % 7 === 0 ? 0 : 300))),
    ],
  ])('%s', async (_what, calls) => {
    const { service, untilComplete, isVerified, memory } = polling({ lookback: 30, pageSize: 10 })
    service.calls = calls
    await untilComplete()
    expect([isVerified(), memory.traits.orderRefutedAt]).toEqual([true, undefined])
  })

  test('if calls move from one page to the next while it is read', async () => {
    const { service, untilComplete, isVerified, memory } = polling({ lookback: 30, pageSize: 10 })
    service.calls = numbered(1, 60)
    let first = 1
    service.beforePage = (page) => {
      if (page > 1) service.calls = numbered(--first, 60)
    }
    await untilComplete()
    expect([isVerified(), memory.traits.orderRefutedAt]).toEqual([true, undefined])
  })

  test('if so many calls are added while it is read that pages repeat', async () => {
    const { service, poll, isVerified, memory } = polling({ lookback: 3000, pageSize: 10 })
    service.calls = numbered(1, 60)
    service.beforePage = (page) => {
      if (page === 3) service.calls = numbered(-19, 60)
    }
    expect((await poll()).success?.movesHorizon).toBe(true)
    expect([isVerified(), memory.traits.orderRefutedAt]).toEqual([true, undefined])
  })

  test('if it is oldest first', async () => {
    const { service, untilComplete, isVerified, memory } = polling({ lookback: 30, pageSize: 10 })
    service.calls = numbered(1, 60).toReversed()
    await untilComplete()
    expect([isVerified(), memory.traits.orderRefutedAt]).toEqual([true, undefined])
  })
})
