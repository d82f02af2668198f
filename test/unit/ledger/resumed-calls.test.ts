import { describe, expect, test } from 'vitest'
import { COUNTERS } from '../../../src/ledger/series.ts'
import { asked, completePoll, CREATED, ledgerBook, listed, seen, total } from '../../kit/ledger/seen.ts'

const audio = (minutes: number) => ({
  callMinutes: { audio: minutes, video: undefined, total: undefined },
  participantMinutes: { audio: minutes, video: undefined, total: undefined },
})
const minutesOf = ({ state }: ReturnType<typeof ledgerBook>) => total(state, COUNTERS.callMinutes)

describe('an evicted call', () => {
  /** A ledger that counted a call of four minutes, and evicted it. */
  function afterEviction() {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(10, seen('a', 'ended', { initiatedAt: CREATED, endedAt: CREATED + 5, ...audio(4) })))
    book.settle(5000)
    expect([...book.history.keys(), book.state.calls.size]).toEqual(['a', 0])
    return book
  }

  test.each([
    ['final, at a corrected time', seen('a', 'ended', { initiatedAt: CREATED, endedAt: CREATED + 4990, ...audio(4) })],
    ['final, without any time', seen('a', 'ended', audio(4))],
    ['open', seen('a', 'ongoing', { initiatedAt: CREATED, ...audio(4) })],
  ])('does not count again if it is listed as %s', (_what, again) => {
    const book = afterEviction()
    book.see({ answers: [listed(CREATED + 5001, again)] })
    expect([book.started(), book.finished(), minutesOf(book)]).toEqual([1, 1, 4])
    expect(book.state.calls.get('a')?.phase).toBe('final')
  })

  test('continues from its row in the history, with corrections', () => {
    const book = afterEviction()
    book.see({
      answers: [
        listed(CREATED + 5001, seen('a', 'ended', { initiatedAt: CREATED, endedAt: CREATED + 5000, ...audio(3) })),
      ],
    })
    book.see({
      answers: [
        listed(CREATED + 5002, seen('a', 'ended', { initiatedAt: CREATED, endedAt: CREATED + 5000, ...audio(6) })),
      ],
    })
    expect([minutesOf(book), total(book.state, COUNTERS.corrections, (key) => key.endsWith('call'))]).toEqual([7, 1])
    expect(book.state.calls.get('a')?.finish?.known).toBe(CREATED + 10)
  })

  test('stays as it was if its session is used again', () => {
    const book = afterEviction()
    const further = seen('a', 'ongoing', { initiatedAt: CREATED + 4990, ...audio(1) })
    for (const at of [5001, 5002]) book.see({ answers: [listed(CREATED + at, further)] })
    expect([book.started(), book.finished(), minutesOf(book)]).toEqual([2, 1, 5])
    expect([...book.state.calls.ofSession('a')].map(({ id, phase }) => [id.slice(0, 3), phase])).toEqual([
      ['cw:', 'open'],
    ])
    expect(book.history.get('a')?.finish?.status).toBe('ended')
  })

  test('is tracked again, even if the answer says nothing new', () => {
    const book = afterEviction()
    const delta = book.see({ answers: [listed(CREATED + 5001, seen('a', 'ended', audio(4)))] })
    expect([[...delta!.calls.keys()], delta!.counters.size, book.state.calls.size]).toEqual([['a'], 0, 1])
  })

  test('is tracked for as long as it is listed as open again', () => {
    const book = afterEviction()
    const again = seen('a', 'ongoing', { initiatedAt: CREATED, ...audio(4) })
    for (let at = 5001; at < 12_000; at += 200) {
      book.see(completePoll(at, again))
      expect(book.state.calls.has('a')).toBe(true)
    }
    for (let at = 12_001; at < 18_000; at += 200)
      book.see(completePoll(at, seen('a', 'ended', { endedAt: CREATED + 5 })))
    expect([book.state.calls.size, book.started()]).toEqual([0, 1])
  })

  test('does not count again with a larger lookback, even in a store without a horizon', () => {
    const book = afterEviction()
    const { horizon: _unknown, ...sync } = book.state.sync
    book.state.sync = sync
    book.settings.lookback = 100_000
    book.see(completePoll(5010, seen('a', 'ended', { endedAt: CREATED + 5, ...audio(4) })))
    expect([book.started(), book.finished(), minutesOf(book)]).toEqual([1, 1, 4])
  })

  test('counts as a new one within the horizon if its row in the history is gone', () => {
    const book = afterEviction()
    book.history.clear()
    book.see({ answers: [listed(CREATED + 5001, seen('a', 'ended', { endedAt: CREATED + 4990 }))] })
    expect([book.started(), book.finished()]).toEqual([2, 2])
  })
})

describe('a baseline call', () => {
  const before = seen('a', 'ended', { initiatedAt: CREATED - 60, endedAt: CREATED - 60, type: 'video', ...audio(5) })
  function afterBaseline() {
    const book = ledgerBook()
    book.see(completePoll(1, before))
    return book
  }

  test.each([
    ['a list', listed],
    ['Get Call', asked],
  ])('counts completely if %s shows it as open, like a meeting that continues', (_what, shownBy) => {
    const book = afterBaseline()
    book.see({ answers: [shownBy(CREATED + 10, seen('a', 'ongoing', audio(7)))] })
    expect([book.started(), book.finished(), minutesOf(book)]).toEqual([1, 0, 7])
    expect([...book.state.open.keys()]).toEqual(['a'])
    book.see(completePoll(100, seen('a', 'ended', { endedAt: CREATED + 90, ...audio(8) })))
    expect([book.started(), book.finished(), minutesOf(book)]).toEqual([1, 1, 8])
  })

  test('that is open again is no anomaly, and its transitions begin at none', () => {
    const book = afterBaseline()
    book.see(completePoll(10, seen('a', 'ongoing')))
    expect(total(book.state, COUNTERS.anomalies)).toBe(0)
    expect(book.counted(COUNTERS.transitions, 'none', 'initiated', 'false')).toBe(1)
  })

  test('that is open again keeps labels that the answer leaves out', () => {
    const book = afterBaseline()
    book.see(completePoll(10, seen('a', 'ongoing', { type: undefined, mode: undefined, receiverType: 'group' })))
    expect(book.counted(COUNTERS.started, 'video', 'call', 'group')).toBe(1)
  })

  test('is not counted while it is final, whatever else changes', () => {
    const book = afterBaseline()
    book.see(completePoll(10, { ...before, ...audio(9), endedAt: CREATED + 5 }))
    book.see(completePoll(11, { ...before, status: 'rejected' }))
    expect([book.started(), book.state.calls.get('a')?.phase]).toEqual([0, 'baseline'])
  })
})
