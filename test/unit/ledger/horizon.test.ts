import { describe, expect, test } from 'vitest'
import { newLedger, type SyncState } from '../../../src/ledger/state.ts'
import { possiblyEvicted } from '../../../src/ledger/delta/compute-delta.ts'
import { horizon } from '../../../src/ledger/horizon.ts'
import { asked, completePoll, CREATED, ledgerBook, listed, seen } from '../../kit/ledger/seen.ts'

const over = (id: string, seconds: number) => seen(id, 'ended', { endedAt: CREATED + seconds })

describe('the horizon', () => {
  test.each<[string, Partial<SyncState>, number]>([
    ['the lookback before the set-up, until two sweeps were confirmed', { lastSweepBegan: CREATED + 5000 }, -1000],
    ['the lookback before the confirmed sweep before the last', { horizonSweep: CREATED + 5000 }, 4000],
    [
      'where an earlier sweep set it, if that is later',
      { horizonSweep: CREATED + 5000, horizon: CREATED + 4700 },
      4700,
    ],
    ['not where an earlier sweep set it, if that is earlier', { horizonSweep: CREATED + 5000, horizon: CREATED }, 4000],
  ])('is %s', (_what, sync, seconds) => {
    expect(horizon({ ...newLedger(CREATED).sync, ...sync }, 1000)).toBe(CREATED + seconds)
  })

  test('is stored by complete polls only', () => {
    const book = ledgerBook({ lookback: 1000 })
    const { success, ...part } = completePoll(100)
    book.see(part)
    book.see({ answers: [], success: { ...success!, endsSweep: false } })
    expect(book.state.sync.horizon).toBeUndefined()
    book.settle(200)
    expect(book.state.sync.horizon).toBe(CREATED - 800)
  })

  test.each([1, 5])(
    'does not move before two sweeps were confirmed after a long outage, after %i that were not',
    (bad) => {
      const book = ledgerBook({ lookback: 1000 })
      book.settle(100)
      for (let sweep = 0; sweep < bad; sweep++) {
        const { answers, success } = completePoll(5000 + sweep)
        book.see({ answers, success: { ...success!, isConfirmed: false } })
      }
      expect([book.state.sync.horizon, book.state.sync.lastSweepBegan]).toEqual([CREATED - 900, CREATED + 4999 + bad])
      book.see(completePoll(5015, over('a', 200)))
      expect([book.finished(), book.state.sync.horizon]).toEqual([1, CREATED - 900])
      book.see(completePoll(5030, over('b', 200)))
      expect([book.finished(), book.state.sync.horizon]).toEqual([2, CREATED + 4015])
    },
  )

  test('is never ahead of the host’s clock less the lookback, until the service has been ahead of it for an hour', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(100))
    const ahead = 20_000
    const poll = (seconds: number) => {
      const { answers, success } = completePoll(seconds + ahead)
      const hostTime = CREATED + seconds
      for (let sweep = 0; sweep < 2; sweep++)
        book.see({
          answers: answers.map((answer) => ({ ...answer, hostTime })),
          clockSkew: ahead,
          success: { ...success!, hostTime, beganHostTime: hostTime },
        })
      return book.state.sync.horizon! - CREATED
    }
    expect([poll(2000), poll(5000)]).toEqual([1000, 4000])
    expect(poll(5600)).toBe(5600 + ahead - 1000)
  })

  test('does not move back for a larger lookback, so that evicted calls are not new', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(10, over('a', 5)))
    book.settle(2000)
    expect(book.state.calls.has('a')).toBe(false)
    book.history.clear()
    book.settings.lookback = 100_000
    for (const seconds of [2015, 2030]) book.see(completePoll(seconds, over('a', 5), over('b', 500)))
    expect([book.started(), book.finished(), book.state.calls.size]).toEqual([1, 1, 0])
    expect(book.state.sync.horizon).toBe(CREATED + 1000)
  })

  test('stays until a larger lookback has reached it, and evicts nothing meanwhile', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.settle(2000, over('a', 1001))
    book.settings.lookback = 5000
    for (const seconds of [4000, 6000]) book.settle(seconds)
    expect([book.state.sync.horizon, book.state.calls.has('a')]).toEqual([CREATED + 1000, true])
    book.settle(7002)
    expect([book.state.sync.horizon, book.state.calls.has('a')]).toEqual([CREATED + 2002, false])
  })

  test('moves forward at once for a smaller lookback', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.settle(2000, over('a', 1500))
    book.settings.lookback = 100
    book.settle(2200)
    expect([book.state.sync.horizon, book.state.calls.has('a')]).toEqual([CREATED + 2100, false])
  })
})

describe('the calls to look up in the history', () => {
  const known = (...seconds: number[]) => {
    const book = ledgerBook({ lookback: 1000 })
    for (const at of seconds) book.settle(at, seen('known', 'ongoing', { initiatedAt: CREATED }))
    return book
  }

  test.each([
    ['include', 'an unknown final call within the horizon', over('a', 1500), ['a']],
    ['include', 'an unknown open call, however long ago it began', seen('a', 'ongoing', { initiatedAt: 1 }), ['a']],
    ['include', 'an unknown final call without any time', seen('a', 'ended'), ['a']],
    ['exclude', 'an unknown final call before the horizon', over('a', 900), []],
    ['exclude', 'a tracked call', over('known', 1500), []],
  ])('%s %s', (_kind, _what, shown, ids) => {
    const { state, settings } = known(1, 2000)
    for (const answer of [listed(CREATED + 2001, shown), asked(CREATED + 2001, shown)])
      expect(possiblyEvicted(state, { answers: [answer] }, settings)).toEqual(ids)
  })

  test('exclude calls of which an answer says nothing new', () => {
    const { state, settings } = known(1, 2000)
    const row = { ...state.calls.get('known')!, id: 'evicted' }
    expect(possiblyEvicted(state, { answers: [{ ...listed(CREATED + 2001), calls: [row] }] }, settings)).toEqual([])
  })

  test('are none before the first complete sweep, because nothing was evicted', () => {
    const { state, settings } = known()
    expect(possiblyEvicted(state, { answers: [listed(CREATED + 1, over('a', 1))] }, settings)).toEqual([])
  })
})
