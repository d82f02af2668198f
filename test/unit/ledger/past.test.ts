import { describe, expect, test } from 'vitest'
import { newLedger } from '../../../src/ledger/state.ts'
import { quarterHourOf } from '../../../src/ledger/usage.ts'
import { asked, completePoll, CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'

const HOUR = 3600
const LOOKBACK = 86_400

/** A call that was over some hours before the set-up, with three participant minutes. */
function past(id: string, hours: number, minutes = 3) {
  const endedAt = CREATED - hours * HOUR
  const joined = { participantMinutes: { audio: minutes, video: undefined, total: undefined }, totalParticipants: 2 }
  return seen(id, 'ended', { initiatedAt: endedAt - 60, startedAt: endedAt - 60, endedAt, ...joined })
}

describe('a call that was over at the set-up', () => {
  test('has its minutes in the quarter of an hour in which it finished, by both formulas', () => {
    const book = ledgerBook({ baseline: 'count' })
    const delta = book.see(completePoll(5, past('a', 2), past('b', 20)))!
    const quarters = [2, 20].map((hours) => quarterHourOf(CREATED - hours * HOUR))
    expect([...book.state.usage]).toEqual(quarters.map((quarter) => [quarter, 3]))
    expect([...delta.userMinutes]).toEqual(quarters.map((quarter) => [quarter, 2]))
  })

  test('has the minutes of its participants there as well, if Get Call shows them later', () => {
    const book = ledgerBook({ baseline: 'count' })
    book.see(completePoll(5, { ...past('a', 2, 0), hasParticipantList: false }))
    expect(book.state.usage.size).toBe(0)
    book.see({ answers: [asked(CREATED + 20, past('a', 2))] })
    expect([...book.state.usage]).toEqual([[quarterHourOf(CREATED - 2 * HOUR), 3]])
  })

  test('counts as noticed when it finished; another one as noticed by the poll', () => {
    const book = ledgerBook({ baseline: 'count' })
    const now = seen('now', 'ended', { initiatedAt: CREATED + 1, endedAt: CREATED + 2 })
    book.see(completePoll(5, past('a', 2), now))
    const late = ['a', 'now'].map((id) => {
      const { at, known, knownHostTime } = book.state.calls.get(id)!.finish!
      return [known - at, knownHostTime - CREATED]
    })
    expect(late).toEqual([
      [0, 5],
      [3, 5],
    ])
  })

  test('has no events, neither when it is counted nor when the service changes it', () => {
    const book = ledgerBook({ baseline: 'count' })
    const counted = book.see(completePoll(5, past('a', 2)))!
    const changed = book.see(completePoll(20, { ...past('a', 2), status: 'rejected', participants: [] }))!
    expect([counted.finishes.length, changed.calls.size]).toEqual([1, 1])
    for (const { transitions, corrections, details } of [counted, changed])
      expect([...transitions, ...corrections, ...details]).toEqual([])
  })

  test('without an end counts, and as noticed, when it began', () => {
    const book = ledgerBook({ baseline: 'count' })
    book.see(completePoll(5, seen('a', 'ended', { initiatedAt: CREATED - HOUR })))
    expect(book.state.calls.get('a')!.finish).toMatchObject({ at: CREATED - HOUR, known: CREATED - HOUR })
  })
})

describe('the time from which all calls are counted', () => {
  test('is the horizon of the first confirmed sweep, and stays', () => {
    const book = ledgerBook({ baseline: 'count' })
    const first = completePoll(5, past('a', 2))
    book.see({ ...first, success: { ...first.success!, isConfirmed: false } })
    expect(book.state.sync.past).toBeUndefined()
    for (const seconds of [20, 40, 60]) book.see(completePoll(seconds, past('a', 2)))
    expect(book.state.sync.past).toEqual({ from: CREATED - LOOKBACK, readAt: CREATED + 20 })
  })

  test.each([
    ['baseline calls are skipped', () => ledgerBook({ baseline: 'skip' })],
    [
      'an earlier version had its sweeps',
      () => {
        const sync = { ...newLedger(CREATED).sync, confirmedSweep: CREATED + 1, lastSweepBegan: CREATED + 1 }
        return ledgerBook({ baseline: 'count' }, { ...newLedger(CREATED), sync })
      },
    ],
    [
      'some calls of the past were skipped before the setting was changed',
      () => {
        const book = ledgerBook({ baseline: 'skip' })
        const first = completePoll(2, past('a', 2))
        book.see({ ...first, success: { ...first.success!, isConfirmed: false } })
        book.settings.baseline = 'count'
        return book
      },
    ],
  ])('is the set-up where %s', (_what, bookOf) => {
    const book = bookOf()
    for (const seconds of [20, 40, 60]) book.see(completePoll(seconds, past('a', 2)))
    expect(book.state.sync.past).toBeUndefined()
  })
})
