import { expect, test } from 'vitest'
import { confirmSweep } from '../../../src/polling/list/confirmed.ts'
import type { ReadingEnd } from '../../../src/polling/list/read-pages.ts'
import { newReading, type Reading } from '../../../src/polling/list/reading.ts'
import { newOrderAcrossPages } from '../../../src/polling/list/list-order.ts'

const DAY = 86_400
const LOOKBACK = 2 * DAY
const SWEEP_INTERVAL = 900
type Before = Parameters<typeof confirmSweep>[2]
const UNSURE = { at: -SWEEP_INTERVAL, since: 0, pages: 4, last: 'call 40' }

type Totals = { first: number; most: number }
type Sweep = { total?: Totals; totalPages?: number; empty?: number[] } & Partial<Reading>

/** A sweep that has read 40 calls on four pages. */
function reading({ total, totalPages, empty = [], ...rest }: Sweep = {}): Reading {
  const list = { end: 'first', joint: [], isWhole: false } as const
  const made = newReading({ list, end: 'first', goal: 'end', isSecond: false, startedAt: 0, requested: 10 })
  const rows = { ...made.rows, seen: new Set(Array.from({ length: 40 }, (_, i) => `call ${i + 1}`)), last: 'call 40' }
  const last = totalPages ?? (total === undefined ? undefined : Math.ceil(total.most / 10))
  return {
    ...made,
    rows,
    pages: { ...made.pages, size: 10, read: 5, furthest: 4, empty: new Set(empty), total, last },
    ...rest,
  }
}

/** With a sweep before it, an interval ago. */
const confirmed = (sweep: Reading, at: ReadingEnd['at'], now: number, before?: Before) =>
  confirmSweep(sweep, at, before && { ...before, at: now + before.at }, {
    now,
    lookback: LOOKBACK,
    sweepInterval: SWEEP_INTERVAL,
  })

const total = (first: number, most = first) => ({ total: { first, most } })

test.each<[string, Sweep, boolean]>([
  ['as many rows as the total', total(40), true],
  ['fewer rows than the total', total(41), false],
  ['as many rows as the total was when it began', total(40, 43), true],
  ['more rows than a total that is old, or counts something else', { ...total(39), totalPages: 4 }, false],
  ['rows, and the total is 0', total(0), false],
  ['rows up to a total at which the service may stop counting', total(2000), false],
  ['the last page', { totalPages: 4 }, true],
  ['not the last page', { totalPages: 5 }, false],
  ['an empty page, and the service counts nothing', {}, false],
  ['a page older than the horizon', { ...total(100), reachedHorizon: true }, true],
  ['a page older than the horizon, after an empty page', { ...total(100), reachedHorizon: true, empty: [3, 5] }, false],
  ['a page older than the horizon, with no rows after the last page', { reachedHorizon: true, empty: [5] }, true],
  [
    'a page older than the horizon, in a list without an order',
    { ...total(100), reachedHorizon: true, order: { ...newOrderAcrossPages(), isBroken: true } },
    false,
  ],
])('a sweep that has reached %s', (_what, sweep, isConfirmed) => {
  const unsure = isConfirmed ? undefined : { at: DAY, since: DAY, pages: 4, last: 'call 40' }
  expect(confirmed(reading(sweep), 'end', DAY)).toEqual({ isConfirmed, unsure })
})

test('a sweep that ends at the row of one right before it, as a cache may answer, confirms nothing', () => {
  const before = { ...UNSURE, at: -59 }
  const unsure = { ...before, at: DAY + before.at }
  expect(confirmed(reading(total(100)), 'end', DAY, before)).toEqual({ isConfirmed: false, unsure })
  expect(confirmed(reading(total(100)), 'end', DAY, { ...before, at: -60 }).isConfirmed).toBe(true)
})

test('a sweep with an empty page amid the list is not confirmed by one before it that ended at the same row', () => {
  expect(confirmed(reading({ empty: [3] }), 'end', DAY, UNSURE).isConfirmed).toBe(false)
})

test.each<[string, ReadingEnd['at'], Before, number, boolean, number?]>([
  ['at the row of the sweep before', 'end', UNSURE, DAY, true, DAY],
  ['at that row, a lookback later', 'end', { ...UNSURE, at: -LOOKBACK }, 9 * DAY, false, 9 * DAY],
  ['at another row', 'end', { ...UNSURE, last: 'call 30' }, DAY, false],
  ['at another row, as for a lookback', 'end', { ...UNSURE, last: 'call 30' }, LOOKBACK, true],
  ['at a page that is refused', 'refused', UNSURE, LOOKBACK - 1, false],
  ['at a page that is refused, as for a lookback', 'refused', UNSURE, LOOKBACK, true],
  ['at such a page, a lookback later', 'refused', { ...UNSURE, at: -LOOKBACK }, 9 * DAY, false, 9 * DAY],
  ['earlier than for a lookback', 'refused', { ...UNSURE, pages: 6 }, LOOKBACK, false],
  ['at a page that was refused in the future', 'refused', { ...UNSURE, since: 99 * DAY }, DAY, false, DAY],
])('a sweep that ends %s', (_what, at, before, now, isConfirmed, since = 0) => {
  const unsure = { at: now, since, pages: 4, last: 'call 40' }
  expect(confirmed(reading(total(100)), at, now, before)).toEqual({ isConfirmed, unsure })
})
