import { describe, expect, test } from 'vitest'
import { compareStart } from '../../src/ledger/delta/repeated-id.ts'
import { COUNTERS } from '../../src/ledger/series.ts'
import { openSince } from '../alerts/sample-calls.ts'
import { asked, completePoll, CREATED, ledgerBook, listed, seen, total } from './seen.ts'

const minutes = (audio: number) => ({
  callMinutes: { audio, video: undefined, total: undefined },
  participantMinutes: { audio, video: undefined, total: undefined },
})
/** A row with the same id, which began `seconds` after the set-up. */
const row = (seconds: number, audio: number) =>
  seen('a', 'ended', { initiatedAt: CREATED + seconds, endedAt: CREATED + seconds + 30, ...minutes(audio) })
const netMinutes = ({ state }: ReturnType<typeof ledgerBook>) => {
  const isCallLevel = (key: string) => key.endsWith('|call')
  return total(state, COUNTERS.callMinutes) - total(state, COUNTERS.corrections, isCallLevel)
}
const repeated = (book: ReturnType<typeof ledgerBook>) => book.counted(COUNTERS.anomalies, 'repeated_id')

describe('an id with two rows', () => {
  test.each([
    ['the later one first', row(200, 7), row(100, 4)],
    ['the earlier one first', row(100, 4), row(200, 7)],
  ])('is one call, the one that began later, however often both are listed (%s)', (_what, one, other) => {
    const book = ledgerBook()
    for (let poll = 0; poll < 5; poll++) book.see(completePoll(300 + poll, one, other))
    expect([book.started(), book.finished(), netMinutes(book), repeated(book)]).toEqual([1, 1, 7, 1])
    // The first poll may count the earlier row before the later one; no later poll adds anything.
    expect(total(book.state, COUNTERS.callMinutes)).toBe(7)
    expect(book.state.calls.get('a')?.counted[0]).toBe(7)
  })

  test('is one call if the rows are committed separately', () => {
    const book = ledgerBook()
    for (let poll = 0; poll < 3; poll++) {
      for (const shown of [row(200, 7), row(100, 4)]) book.see({ answers: [listed(CREATED + 300 + poll, shown)] })
    }
    expect([netMinutes(book), total(book.state, COUNTERS.callMinutes), repeated(book)]).toEqual([7, 7, 1])
  })

  test('is corrected once if the later row has fewer minutes', () => {
    const book = ledgerBook()
    for (let poll = 0; poll < 4; poll++) book.see(completePoll(300 + poll, row(100, 9), row(200, 2)))
    expect([total(book.state, COUNTERS.callMinutes), netMinutes(book)]).toEqual([9, 2])
  })

  test('is an open call while the later row is open', () => {
    const book = ledgerBook()
    const open = seen('a', 'ongoing', { initiatedAt: CREATED + 200, ...minutes(1) })
    for (let poll = 0; poll < 3; poll++) book.see(completePoll(300 + poll, open, row(100, 4)))
    expect([book.started(), book.finished(), netMinutes(book), repeated(book)]).toEqual([1, 0, 1, 1])
    expect(book.state.open.has('a')).toBe(true)
  })

  test('is an anomaly if the later row replaces the earlier one in the list', () => {
    const book = ledgerBook()
    book.see(completePoll(300, row(100, 4)))
    for (const seconds of [315, 330]) book.see(completePoll(seconds, row(200, 7)))
    expect([netMinutes(book), repeated(book)]).toEqual([7, 1])
  })

  test('is one call as listed last if both rows began together', () => {
    const book = ledgerBook()
    book.see(completePoll(300, row(100, 4), row(100, 3)))
    expect([netMinutes(book), repeated(book)]).toEqual([3, 0])
  })

  test('is not changed by Get Call, which may show the earlier row, once both are final', () => {
    const book = ledgerBook()
    book.see(completePoll(300, row(100, 4), row(200, 7)))
    book.see({ answers: [asked(CREATED + 301, row(100, 4))] })
    expect([netMinutes(book), total(book.state, COUNTERS.callMinutes), repeated(book)]).toEqual([7, 7, 1])
    expect(book.state.detailsWanted.size).toBe(0)
  })

  test('is the call that Get Call shows while it is open, also if it began earlier', () => {
    const book = ledgerBook()
    book.see(completePoll(300, seen('a', 'ongoing', { initiatedAt: CREATED + 200, ...minutes(1) })))
    book.see({ answers: [asked(CREATED + 315, row(100, 4))] })
    expect([book.state.open.has('a'), book.lost(), book.finished(), netMinutes(book)]).toEqual([false, 0, 1, 4])
  })
})

describe('the beginning of a row, compared with the tracked call,', () => {
  const T = CREATED
  test.each([
    ['is the same', {}, { initiatedAt: T }, 0],
    ['is the same within a second', {}, { initiatedAt: T + 1 }, 0],
    ['is earlier', {}, { initiatedAt: T - 2 }, -1],
    ['is later', {}, { initiatedAt: T + 2 }, 1],
    ['is unknown, which counts as the same', {}, {}, 0],
    ['is earlier, by both times', { startedAt: T + 5 }, { initiatedAt: T - 60, startedAt: T - 50 }, -1],
    ['is earlier, by startedAt alone', { startedAt: T + 5 }, { startedAt: T - 50 }, -1],
    [
      'is earlier, if it was answered before the tracked call rang',
      { startedAt: undefined },
      { startedAt: T - 50 },
      -1,
    ],
    [
      'counts as the same, if it was answered after the tracked call rang',
      { startedAt: undefined },
      { startedAt: T + 50 },
      0,
    ],
    [
      'counts as the same, if the two times disagree',
      { startedAt: T + 5 },
      { initiatedAt: T - 60, startedAt: T + 60 },
      0,
    ],
    ['is the same, if only one time was corrected', { startedAt: T + 5 }, { initiatedAt: T, startedAt: T + 60 }, 0],
    ['is the same, if the call was just answered', {}, { initiatedAt: T + 60, startedAt: T + 65 }, 0],
    ['is earlier, if that row was answered', {}, { initiatedAt: T - 60, startedAt: T - 50 }, -1],
  ] as const)('%s', (_what, tracked, shown, expected) => {
    expect(compareStart(openSince(T, tracked), seen('a', 'ongoing', shown))).toBe(expected)
  })
})
