import { expect, test } from 'vitest'
import { newLedger } from '../../../src/ledger/state.ts'
import { newReading, type Reading } from '../../../src/polling/list/reading.ts'
import { newPollMemory, sweepProgress } from '../../../src/polling/poll-memory.ts'
import { formatSync } from '../../../src/text/format.ts'
import { CREATED } from '../../kit/ledger/seen.ts'

const made = { list: undefined, end: 'first', goal: 'joint', isSecond: false, startedAt: 0, requested: 10 } as const

/** Of a reading, after 60 s, which has read the list this far back. */
function progress(pages: Partial<Reading['pages']>, differing: Partial<Reading> = {}, oldest = CREATED - 250) {
  const memory = newPollMemory(newLedger(CREATED).sync, undefined)
  const reading = newReading(made)
  const rows = { ...reading.rows, oldest }
  memory.list.catchUp = { ...reading, rows, pages: { ...reading.pages, ...pages }, ...differing }
  return sweepProgress(memory, 60)!
}

test('a sweep has as many pages as the service says, however far back it has read', () => {
  for (const secondsAgo of [1, 250, 990, 2000])
    expect(progress({ read: 10, last: 30 }, {}, CREATED - secondsAgo)).toEqual({
      pagesRead: 10,
      pages: 30,
      secondsLeft: 120,
    })
  expect(progress({ read: 10 })).toEqual({ pagesRead: 10, pages: undefined, secondsLeft: undefined })
})

test('nothing is left after the last page, nor known before the first', () => {
  expect(formatSync(progress({ read: 7, last: 7 }))).toBe('the initial sync has read 7 of 7 pages')
  expect(progress({ read: 8, last: 7 }).pages).toBe(8)
  expect(progress({ read: 0 })).toEqual({ pagesRead: 0, pages: undefined, secondsLeft: undefined })
})

test('the calls that appeared during a first reading do not begin the count anew', () => {
  const second = progress({ read: 2, last: 383 }, { isSecond: true, readBefore: 383 })
  expect(formatSync(second)).toBe('the initial sync has read 385 of 385 pages')
})
