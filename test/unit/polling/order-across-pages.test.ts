import { describe, expect, test } from 'vitest'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { addToOrder, newOrderAcrossPages } from '../../../src/polling/list/list-order.ts'
import { CREATED, seen } from '../../kit/ledger/seen.ts'
import { numbered, ongoing, polling } from './polling.ts'

const DAY = 86_400
/** Sixty times, newest first, in pages of ten; `change` gives some of them another one. */
const pagesOf = (change: (n: number) => number = (n) => -n, count = 60, pageSize = 10) =>
  Array.from({ length: Math.ceil(count / pageSize) }, (_, page) =>
    Array.from({ length: Math.min(pageSize, count - page * pageSize) }, (_, i) => change(page * pageSize + i)),
  )

test.each<[string, boolean, number[][]]>([
  ['in order', false, pagesOf()],
  ['in order, in pages of three', false, pagesOf(undefined, 60, 3)],
  ['in order, with one call on the last page', false, pagesOf(undefined, 61)],
  ['in order, though a call of each page has a wrong date', false, pagesOf((n) => (n % 10 === 5 ? 9000 : -n))],
  ['in order, though a call of each page has a date long ago', false, pagesOf((n) => (n % 10 === 0 ? -99_999 : -n))],
  ['in order, though three in a row at the end have a wrong date', false, pagesOf((n) => (n > 56 ? 9000 : -n))],
  ['in order, though all began at the same moment', false, pagesOf((n) => (n < 20 ? -n : -500))],
  ['in order, though neighbours are minutes out of place', false, pagesOf((n) => -20 * n - (n % 7 === 0 ? 0 : 300))],
  ['out of order, if it begins again at newer calls', true, pagesOf((n) => -(n % 30))],
  ['out of order, in pages of three as well', true, pagesOf((n) => -(n % 30), 60, 3)],
  ['out of order, with an import of old calls on top', true, pagesOf((n) => (n < 20 ? -5000 - n : -n))],
  ['out of order, if four calls in a row are far above', true, pagesOf((n) => (n > 55 ? 9000 : -n))],
])('a list is %s', (_what, isBroken, pages) => {
  const order = newOrderAcrossPages()
  for (const page of pages) addToOrder(order, page)
  expect(order.isBroken).toBe(isBroken)
})

/** Calls of another type, newest first. */
const videos = (from: number, to: number): SeenCall[] =>
  numbered(from, to).map((audio) => ({
    ...audio,
    id: `video ${audio.id}`,
    session: `video ${audio.id}`,
    type: 'video',
  }))
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
    test('is not verified, and each sweep finds the calls that came in in the middle', async () => {
      const { service, poll, untilComplete, has, isVerified, newest, clock } = polling({
        lookback: 3600,
        pageSize,
        slice: 50,
      })
      service.calls = list([])
      await untilComplete()
      for (let polls = 0; polls < 12; polls++) await poll()
      expect(isVerified()).toBe(false)
      for (let sweeps = 0; sweeps < 3; sweeps++) {
        const n = newest()
        service.calls = list(numbered(n, n + 1))
        await clock.advance(900)
        await untilComplete()
        expect([has(n), has(n + 1), isVerified()]).toEqual([true, true, false])
      }
    })
  },
)

test('an order that was refuted while answers had a wrong Date is verified again later', async () => {
  const { service, poll, memory, isVerified } = polling({ lookback: 30, pageSize: 10, slice: 4, sweepInterval: 60 })
  service.calls = numbered(1, 60)
  await poll()
  service.calls = [...videos(1, 60), ...numbered(1, 60)]
  service.ahead = 74 * 365 * DAY
  for (let polls = 0; polls < 20; polls++) await poll()
  expect(memory.list?.order?.isByTime).toBe(false)
  expect(memory.list?.order?.at).toBeGreaterThan(CREATED + 73 * 365 * DAY)
  service.ahead = 0
  service.calls = numbered(1, 60)
  for (let polls = 0; polls < 100; polls++) await poll()
  expect(isVerified()).toBe(true)
})

test('calls without any time at the end of a list do not refute its order, and are not missed', async () => {
  const timeless = (n: number) => seen(`timeless ${n}`, 'ended')
  const { service, untilComplete, clock, book, isVerified } = polling({ lookback: 30, pageSize: 10, slice: 7 })
  service.calls = [...numbered(1, 60), ...[1, 2, 3].map(timeless)]
  await untilComplete()
  service.calls = [...numbered(0, 60), ...[0, 1, 2, 3].map(timeless)]
  await clock.advance(900)
  await untilComplete()
  expect([book.state.calls.has('timeless 0'), isVerified()]).toEqual([true, true])
})

test.each([
  ['calls move from one page to the next while it is read', [2, 3, 4, 5], 1],
  ['so many come in while it is read that pages repeat', [3], 20],
])('the order is verified though %s', async (_what, pages, count) => {
  const { service, poll, untilComplete, isVerified } = polling({ lookback: 3000, pageSize: 10 })
  service.calls = numbered(1, 60)
  let first = 1
  service.beforePage = (page) => {
    if (pages.includes(page)) service.calls = numbered((first -= count), 60)
  }
  await untilComplete()
  await poll()
  expect(isVerified()).toBe(true)
})
