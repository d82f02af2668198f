import { describe, expect, test } from 'vitest'
import { completePoll, CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'

const DAY = 86_400

describe('a call with a time in the far future', () => {
  /** It ends ten days after the set-up; that time was discarded. */
  const misdated = (began: number) =>
    seen('a', 'ended', { initiatedAt: CREATED + began, ahead: CREATED + 10 * DAY, badValue: true })
  /** The same answer when that time is near. */
  const plausible = (began: number) => seen('a', 'ended', { initiatedAt: CREATED + began, endedAt: CREATED + 10 * DAY })

  test.each([
    ['counted', 10, 1],
    ['baseline', -100, 0],
    ['final before the horizon', -5000, 0],
  ] as const)('is tracked until the horizon passes that time, and is not new then (%s)', (_what, began, counts) => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(20, misdated(began)))
    for (let day = 1; day < 9; day++) {
      book.see(completePoll(day * DAY))
      expect(book.state.calls.has('a')).toBe(true)
    }
    book.see(completePoll(9 * DAY + 60, plausible(began)))
    expect([book.started(), book.finished()]).toEqual([counts, counts])
    book.settle(10 * DAY + 1000)
    expect(book.state.calls.has('a')).toBe(true)
    book.settle(10 * DAY + 1001)
    expect(book.state.calls.has('a')).toBe(false)
  })

  test('does not replace its row in the history', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(20, seen('a', 'ended', { initiatedAt: CREATED + 10, endedAt: CREATED + 12 })))
    book.settle(DAY)
    expect([...book.history.keys()]).toEqual(['a'])
    book.see(completePoll(DAY + 60, misdated(10)))
    expect(book.state.calls.get('a')?.phase).toBe('final')
    book.see(completePoll(9 * DAY + 60, plausible(10)))
    expect([book.started(), book.finished()]).toEqual([1, 1])
  })

  test('is not tracked for less time if an answer lacks it, or has a nearer one', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(20, misdated(10)))
    book.see(completePoll(30, seen('a', 'ended', { initiatedAt: CREATED + 10 })))
    expect(book.state.calls.get('a')?.retainUntil).toBe(CREATED + 10 * DAY)
    book.see(completePoll(40, { ...misdated(10), ahead: CREATED + 5 * DAY }))
    expect(book.state.calls.get('a')?.retainUntil).toBe(CREATED + 10 * DAY)
  })

  test('is tracked for longer if an answer has a later one', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(20, misdated(10)))
    book.see(completePoll(30, { ...misdated(10), ahead: CREATED + 20 * DAY }))
    expect(book.state.calls.get('a')?.retainUntil).toBe(CREATED + 20 * DAY)
  })
})
