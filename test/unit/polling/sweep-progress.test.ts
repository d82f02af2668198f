import { expect, test } from 'vitest'
import { newLedger } from '../../../src/ledger/state.ts'
import { newReading, type Reading } from '../../../src/polling/list/reading.ts'
import { newOrderAcrossPages } from '../../../src/polling/list/list-order.ts'
import { newPollMemory, sweepProgress } from '../../../src/polling/poll-memory.ts'
import { CREATED } from '../../kit/ledger/seen.ts'

const LOOKBACK = 1000
const made = { list: undefined, end: 'first', goal: 'joint', isSecond: false, startedAt: 0, requested: 10 } as const

/** Of a reading that has read this part of the lookback, after 60 s. */
function progress(part: number, pages: Partial<Reading['pages']>, differing: Partial<Reading> = {}) {
  const memory = newPollMemory(newLedger(CREATED).sync, undefined)
  const reading = newReading(made)
  const rows = { ...reading.rows, oldest: CREATED - part * LOOKBACK }
  memory.list.catchUp = { ...reading, rows, pages: { ...reading.pages, ...pages }, ...differing }
  return sweepProgress(memory, 60, { now: CREATED, horizon: CREATED - LOOKBACK })
}

test('a sweep that reads to the horizon ends about when it has read all of the lookback, however long the list is', () => {
  expect(progress(0.25, { read: 10, last: 600 })).toEqual({ pagesRead: 10, pages: 40, secondsLeft: 180 })
  expect(progress(0.25, { read: 10, last: 30 })).toEqual({ pagesRead: 10, pages: 30, secondsLeft: 120 })
  expect(progress(0.25, { read: 10 })).toEqual({ pagesRead: 10, pages: 40, secondsLeft: 180 })
  // It goes on behind the lookback: the list has no order.
  expect(progress(1.1, { read: 10, last: 600 })).toEqual({ pagesRead: 10, pages: 600, secondsLeft: 3540 })
})

test('a sweep of the whole list, and one of a list without an order, ends with its last page', () => {
  const whole = { pagesRead: 10, pages: 600, secondsLeft: 3540 }
  expect(progress(0.25, { read: 10, last: 600 }, { goal: 'end' })).toEqual(whole)
  const order = { ...newOrderAcrossPages(), isBroken: true }
  expect(progress(0.25, { read: 10, last: 600 }, { order })).toEqual(whole)
  expect(progress(0.25, { read: 10 }, { order })).toEqual({ pagesRead: 10, pages: undefined, secondsLeft: undefined })
})

test('nothing is known before the first page', () => {
  expect(progress(-Infinity, { read: 0 })).toEqual({ pagesRead: 0, pages: undefined, secondsLeft: undefined })
})
