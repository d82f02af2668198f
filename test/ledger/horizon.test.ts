import { describe, expect, test } from 'vitest'
import { newLedger, type SyncState } from '../../src/ledger/state.ts'
import { unknownIds } from '../../src/ledger/compute-delta.ts'
import { horizon } from '../../src/ledger/horizon.ts'
import { asked, completePoll, CREATED, ledgerBook, listed, seen } from './seen.ts'

const over = (id: string, seconds: number) => seen(id, 'ended', { endedAt: CREATED + seconds })

describe('the horizon', () => {
  test.each<[string, Partial<SyncState>, number]>([
    ['before the set-up, until there was a complete look', {}, -1000],
    ['before the last complete look', { lastComplete: CREATED + 5000 }, 4000],
    ['where an earlier look had it, if that is later', { lastComplete: CREATED + 5000, horizon: CREATED + 4700 }, 4700],
    ['not where an earlier look had it, if that is earlier', { lastComplete: CREATED + 5000, horizon: CREATED }, 4000],
  ])('lies %s', (_what, sync, seconds) => {
    expect(horizon({ ...newLedger(CREATED).sync, ...sync }, 1000)).toBe(CREATED + seconds)
  })

  test('is known for good after each complete look, and by no other', () => {
    const book = ledgerBook({ lookback: 1000 })
    const { end, ...part } = completePoll(100)
    book.see(part)
    book.see({ answers: [], end: { ...end!, complete: false } })
    expect(book.state.sync.horizon).toBeUndefined()
    book.see(completePoll(200))
    expect(book.state.sync.horizon).toBe(CREATED - 800)
  })

  test('does not go back where a larger lookback is configured: what was evicted is not new', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(10, over('a', 5)))
    book.see(completePoll(2000))
    expect(book.state.calls.has('a')).toBe(false)
    book.history.clear()
    book.settings.lookback = 100_000
    for (const seconds of [2015, 2030]) book.see(completePoll(seconds, over('a', 5), over('b', 500)))
    expect([book.started(), book.finished(), book.state.calls.size]).toEqual([1, 1, 0])
    expect(book.state.sync.horizon).toBe(CREATED + 1000)
  })

  test('stands still after that until the larger lookback has come to it, and evicts nothing meanwhile', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(2000, over('a', 1001)))
    book.settings.lookback = 5000
    for (const seconds of [4000, 6000]) book.see(completePoll(seconds))
    expect([book.state.sync.horizon, book.state.calls.has('a')]).toEqual([CREATED + 1000, true])
    book.see(completePoll(7002))
    expect([book.state.sync.horizon, book.state.calls.has('a')]).toEqual([CREATED + 2002, false])
  })

  test('moves on at once where a smaller lookback is configured', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(2000, over('a', 1500)))
    book.settings.lookback = 100
    book.see(completePoll(2200))
    expect([book.state.sync.horizon, book.state.calls.has('a')]).toEqual([CREATED + 2100, false])
  })
})

describe('the ids that are looked up in the history', () => {
  const known = (...seconds: number[]) => {
    const book = ledgerBook({ lookback: 1000 })
    for (const at of seconds) book.see(completePoll(at, seen('known', 'ongoing', { initiatedAt: CREATED })))
    return book
  }

  test.each([
    ['an unknown call that is over, within the horizon', over('a', 1500), ['a']],
    ['an unknown call that is open, however long ago it began', seen('a', 'ongoing', { initiatedAt: 1 }), ['a']],
    ['an unknown call that is over and has no time', seen('a', 'ended'), ['a']],
    ['an unknown call that is over, before the horizon', over('a', 900), []],
    ['a call that is tracked', over('known', 1500), []],
  ])('are, of %s, its own or none', (_what, shown, ids) => {
    const { state, settings } = known(1, 2000)
    for (const answer of [listed(CREATED + 2001, shown), asked(CREATED + 2001, shown)])
      expect(unknownIds(state, { answers: [answer] }, settings)).toEqual(ids)
  })

  test('are none of calls that say nothing new', () => {
    const { state, settings } = known(1, 2000)
    const row = { ...state.calls.get('known')!, id: 'evicted' }
    expect(unknownIds(state, { answers: [{ ...listed(CREATED + 2001), calls: [row] }] }, settings)).toEqual([])
  })

  test('are none before the first complete look: nothing was evicted', () => {
    const { state, settings } = known()
    expect(unknownIds(state, { answers: [listed(CREATED + 1, over('a', 1))] }, settings)).toEqual([])
  })
})
