import { expect, test } from 'vitest'
import {
  isOrderVerified,
  isOrderVerifiedRecently,
  isUnordered,
  overlapRows,
  withLateRow,
  type KnownList,
} from '../../../src/ledger/known-list.ts'
import { CREATED, KNOWN_LIST } from '../../kit/ledger/seen.ts'

const DAY = 86_400
const NOW = CREATED + 10 * DAY

/** A list of which readings found these late rows; an overlap of up to thirty rows is read. */
const withRows = (...late: (readonly [rows: number, at: number])[]): KnownList =>
  late.reduce((list, [rows, now]) => withLateRow(list, rows, { now, most: 30 }), KNOWN_LIST)

test.each<[string, KnownList | undefined, number, boolean]>([
  ['with the largest overlap of a day', withRows([4, NOW - 60], [9, NOW - 30], [2, NOW - 10]), 9, false],
  ['with as large an overlap as is read', withRows([30, NOW]), 30, false],
  ['whose overlap a smaller one replaces after a day', withRows([9, NOW - DAY - 10], [2, NOW - 10]), 2, false],
  ['without an overlap after a day', withRows([9, NOW - DAY]), 0, false],
  ['without an overlap at first', withRows(), 0, false],
  ['in order, though one reading found a row far away', withRows([31, NOW - 10]), 0, false],
  ['in no order once two readings did', withRows([31, NOW - 900], [500, NOW - 10]), 0, true],
  ['in no order for a day', withRows([31, NOW - DAY - 900], [31, NOW - DAY + 1]), 0, true],
  ['in order again after a day', withRows([31, NOW - DAY - 900], [31, NOW - DAY]), 0, false],
  ['in order, if the two readings were a day apart', withRows([31, NOW - DAY - 10], [31, NOW - 10]), 0, false],
  ['in no order, with an overlap', withRows([31, NOW - 30], [31, NOW - 20], [7, NOW - 10]), 7, true],
  [
    'in order, if the two readings have times far in the future',
    withRows([31, NOW + 9 * DAY], [31, NOW + 9 * DAY]),
    0,
    false,
  ],
])('a list is one %s', (_what, list, rows, unordered) => {
  expect([overlapRows(list!, NOW), isUnordered(list, NOW)]).toEqual([rows, unordered])
})

test('a list that was never read is not in no order', () => {
  expect(isUnordered(undefined, NOW)).toBe(false)
})

test.each<[string, KnownList['order'], number, boolean, boolean]>([
  ['not verified at first', undefined, 10 * DAY, false, false],
  ['verified by a reading of the whole list', { isByTime: true, at: NOW }, 10 * DAY, true, true],
  ['verified for a day', { isByTime: true, at: NOW - DAY + 1 }, 10 * DAY, true, true],
  ['no longer recently verified after a day', { isByTime: true, at: NOW - DAY }, 10 * DAY, true, false],
  ['verified for half the time to the horizon', { isByTime: true, at: NOW - 599 }, 1200, true, true],
  ['no longer after half the time to the horizon', { isByTime: true, at: NOW - 600 }, 1200, true, false],
  ['not recently verified in the far future', { isByTime: true, at: NOW + 9 * DAY }, 10 * DAY, true, false],
  ['not verified by a reading that found it wrong', { isByTime: false, at: NOW }, 10 * DAY, false, false],
])('an order is %s', (_what, order, seconds, verified, recently) => {
  const list = { ...KNOWN_LIST, ...(order && { order }) }
  expect(isOrderVerified(list)).toBe(verified)
  expect(isOrderVerifiedRecently(list, { now: NOW, horizon: NOW - seconds })).toBe(recently)
})
