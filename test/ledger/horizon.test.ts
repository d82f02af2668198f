import { describe, expect, test } from 'vitest'
import { newLedger, type SyncState } from '../../src/ledger/state.ts'
import { possiblyEvictedIds } from '../../src/ledger/delta/compute-delta.ts'
import { horizon } from '../../src/ledger/horizon.ts'
import { asked, completePoll, CREATED, ledgerBook, listed, seen } from './seen.ts'

const over = (id: string, seconds: number) => seen(id, 'ended', { endedAt: CREATED + seconds })

describe('the horizon', () => {
  test.each<[string, Partial<SyncState>, number]>([
    ['the lookback before the set-up, until a sweep was complete', {}, -1000],
    ['the lookback before the last complete sweep', { lastSweepBegan: CREATED + 5000 }, 4000],
    [
      'where an earlier sweep set it, if that is later',
      { lastSweepBegan: CREATED + 5000, horizon: CREATED + 4700 },
      4700,
    ],
    [
      'not where an earlier sweep set it, if that is earlier',
      { lastSweepBegan: CREATED + 5000, horizon: CREATED },
      4000,
    ],
  ])('is %s', (_what, sync, seconds) => {
    expect(horizon({ ...newLedger(CREATED).sync, ...sync }, 1000)).toBe(CREATED + seconds)
  })

  test('is stored by complete polls only', () => {
    const book = ledgerBook({ lookback: 1000 })
    const { success, ...part } = completePoll(100)
    book.see(part)
    book.see({ answers: [], success: { ...success!, movesHorizon: false } })
    expect(book.state.sync.horizon).toBeUndefined()
    book.see(completePoll(200))
    expect(book.state.sync.horizon).toBe(CREATED - 800)
  })

  test('depends on the sweep before where items cannot be used: any may be a call that was not seen, after a long outage', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(100))
    const unusable = (seconds: number, ...calls: Parameters<typeof completePoll>[1][]) => {
      const { answers, success } = completePoll(seconds, ...calls)
      book.see({ answers, success: { ...success!, hasInvalid: true } })
    }
    unusable(5000)
    expect([book.state.sync.horizon, book.state.sync.lastSweepBegan]).toEqual([CREATED - 900, CREATED + 5000])
    unusable(5015, over('a', 200))
    expect([book.finished(), book.state.sync.horizon]).toEqual([1, CREATED + 4000])
    book.see(completePoll(5030))
    expect([book.state.sync.horizon, book.state.sync.horizonSweep]).toEqual([CREATED + 4030, undefined])
  })

  test('depends on the set-up where items of the first sweep cannot be used, after an outage since the set-up', () => {
    const book = ledgerBook({ lookback: 1000 })
    const { answers, success } = completePoll(5000)
    book.see({ answers, success: { ...success!, hasInvalid: true } })
    expect(book.state.sync.horizon).toBe(CREATED - 1000)
    book.see(completePoll(5015, over('a', 200)))
    expect([book.finished(), book.state.sync.horizon]).toEqual([1, CREATED + 4015])
  })

  test('is never ahead of the host’s clock less the lookback, until the service has been ahead of it for an hour', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(100))
    const ahead = 20_000
    const poll = (seconds: number) => {
      const { answers, success } = completePoll(seconds + ahead)
      const hostTime = CREATED + seconds
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
    book.see(completePoll(2000))
    expect(book.state.calls.has('a')).toBe(false)
    book.history.clear()
    book.settings.lookback = 100_000
    for (const seconds of [2015, 2030]) book.see(completePoll(seconds, over('a', 5), over('b', 500)))
    expect([book.started(), book.finished(), book.state.calls.size]).toEqual([1, 1, 0])
    expect(book.state.sync.horizon).toBe(CREATED + 1000)
  })

  test('stays until a larger lookback has reached it, and evicts nothing meanwhile', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(2000, over('a', 1001)))
    book.settings.lookback = 5000
    for (const seconds of [4000, 6000]) book.see(completePoll(seconds))
    expect([book.state.sync.horizon, book.state.calls.has('a')]).toEqual([CREATED + 1000, true])
    book.see(completePoll(7002))
    expect([book.state.sync.horizon, book.state.calls.has('a')]).toEqual([CREATED + 2002, false])
  })

  test('moves forward at once for a smaller lookback', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(2000, over('a', 1500)))
    book.settings.lookback = 100
    book.see(completePoll(2200))
    expect([book.state.sync.horizon, book.state.calls.has('a')]).toEqual([CREATED + 2100, false])
  })
})

describe('the calls to look up in the history', () => {
  const known = (...seconds: number[]) => {
    const book = ledgerBook({ lookback: 1000 })
    for (const at of seconds) book.see(completePoll(at, seen('known', 'ongoing', { initiatedAt: CREATED })))
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
      expect(possiblyEvictedIds(state, { answers: [answer] }, settings)).toEqual(ids)
  })

  test('exclude calls of which an answer says nothing new', () => {
    const { state, settings } = known(1, 2000)
    const row = { ...state.calls.get('known')!, id: 'evicted' }
    expect(possiblyEvictedIds(state, { answers: [{ ...listed(CREATED + 2001), calls: [row] }] }, settings)).toEqual([])
  })

  test('are none before the first complete sweep, because nothing was evicted', () => {
    const { state, settings } = known()
    expect(possiblyEvictedIds(state, { answers: [listed(CREATED + 1, over('a', 1))] }, settings)).toEqual([])
  })
})
