import { describe, expect, test } from 'vitest'
import { applyDelta } from '../../../src/ledger/state.ts'
import { COUNTERS } from '../../../src/ledger/series.ts'
import { computeDelta } from '../../../src/ledger/delta/compute-delta.ts'
import { sessionOf } from '../../../src/ledger/identity.ts'
import { asked, completePoll, contents, CREATED, seen, total } from '../../kit/ledger/seen.ts'
import { A, B, commitOf, DAY, filled, openAt, OPTIONS, type NewPlace } from '../../kit/store/place.ts'
import { finishedCalls } from '../../kit/store/finished-calls.ts'

/** What a store promises of calls that were counted and evicted: those that are listed again are resumed from their rows. */
export function evictedContract(newPlace: NewPlace): void {
  describe('calls that were counted and evicted', () => {
    test('are found by their ids, as they were; tracked and unknown ones are not', async () => {
      const { store, ledger, see } = await openAt(newPlace)
      const minutes = { callMinutes: { audio: 0.1, video: 2, total: undefined } }
      const ended = { initiatedAt: CREATED + 1, endedAt: CREATED + 9, totalParticipants: 2, ...minutes }
      await see(completePoll(10, seen('gone', 'ended', ended), seen("ü ' {,} NULL", 'ended', ended)))
      const rows = Map.groupBy(contents(ledger).calls.values(), sessionOf)
      await see(completePoll(2000))
      await see(completePoll(2000, seen('tracked', 'ended', { endedAt: CREATED + 1990 })))
      const found = await store.evictedCalls('a', ['gone', 'tracked', "ü ' {,} NULL", 'unknown'])
      expect(found).toStrictEqual(rows)
      expect([...found.keys()].toSorted()).toEqual(['gone', "ü ' {,} NULL"])
    })

    test('are those of one target, whatever others have under the same id', async () => {
      const store = await (await newPlace()).open()
      await filled(store, A, { same: 5, one: 6 }, ['same'])
      await filled(store, B, { same: 7, two: 8 }, ['two'])
      const finishes = async (target: string) =>
        Array.from(await store.evictedCalls(target, ['same', 'one', 'two']), ([id, [call]]) => [
          id,
          call!.finish!.at - CREATED,
        ])
      expect(await finishes('a')).toEqual([['one', 6]])
      expect(await finishes('b')).toEqual([['same', 7]])
      expect(await finishes('neither')).toEqual([])
    })

    test('are none where none is asked for, nor once they have expired', async () => {
      const store = await (await newPlace()).open()
      await filled(store, A, { old: 5, young: 60 })
      expect(await store.evictedCalls('a', [])).toEqual(new Map())
      await store.deleteExpired(CREATED + 50)
      expect([...(await store.evictedCalls('a', ['old', 'young'])).keys()]).toEqual(['young'])
    })

    test('are as many as were asked for', async () => {
      const store = await (await newPlace()).open()
      const ids = Array.from({ length: 1500 }, (_, n) => `call ${n}`)
      await filled(store, A, Object.fromEntries(ids.map((id) => [id, 5])))
      expect([...(await store.evictedCalls('a', ids)).keys()].toSorted()).toEqual(ids.toSorted())
    })

    test('resume a call that was lost when it comes back', async () => {
      const { store, ledger, see } = await openAt(newPlace)
      await see(completePoll(10, seen('c', 'ongoing', { initiatedAt: CREATED + 1 })))
      for (const seconds of [11, 12]) await see({ answers: [asked(CREATED + seconds, undefined, ['c'])] })
      await see(completePoll(2000))
      await see(completePoll(2000))
      expect(contents(ledger).calls).toEqual(new Map())
      const again = completePoll(2010, seen('c', 'ongoing', { initiatedAt: CREATED + 1 }))
      const delta = computeDelta(ledger, again, OPTIONS, await store.evictedCalls('a', ['c']))!
      await store.commit('a', commitOf(delta))
      applyDelta(ledger, delta, DAY)
      expect([COUNTERS.started, COUNTERS.lost, COUNTERS.reappeared].map((each) => total(ledger, each))).toEqual([
        1, 1, 1,
      ])
      expect(await finishedCalls(store, { since: 0, limit: 10 })).toEqual([])
    })

    test('are one row again once they were resumed, and no evicted one any more', async () => {
      const { store, ledger, see, restart } = await openAt(newPlace)
      await see(completePoll(10, seen('c', 'ended', { initiatedAt: CREATED, endedAt: CREATED + 5 })))
      await see(completePoll(2000))
      await see(completePoll(2000))
      const again = completePoll(2010, seen('c', 'ended', { initiatedAt: CREATED, endedAt: CREATED + 2005 }))
      const delta = computeDelta(ledger, again, OPTIONS, await store.evictedCalls('a', ['c']))!
      await store.commit('a', commitOf(delta))
      applyDelta(ledger, delta, DAY)
      expect([total(ledger, COUNTERS.started), total(ledger, COUNTERS.finished)]).toEqual([1, 1])
      expect(await store.evictedCalls('a', ['c'])).toEqual(new Map())
      const reopened = await restart()
      expect(contents(reopened.ledger).calls).toEqual(contents(ledger).calls)
      expect(await finishedCalls(reopened.store, { since: CREATED, limit: 10 })).toHaveLength(1)
    })
  })
}
