import { describe, expect, test } from 'vitest'
import { apply } from '../../../src/ledger/state.ts'
import { step } from '../../../src/ledger/step.ts'
import { completeLook, contents, CREATED, seen, total } from '../../ledger/seen.ts'
import { COUNTERS } from '../../../src/ledger/series.ts'
import { B, filled } from './filled-history.ts'
import { A, DAY, NO_ALERTS, OPTIONS, see, type NewPlace } from './place.ts'

/** What a store promises of calls that were counted and evicted: those that are listed again go on from their rows. */
export function evictedContract(newPlace: NewPlace): void {
  describe('calls that were counted and evicted', () => {
    test('are found by their ids, as they were; tracked and unknown ones are not', async () => {
      const store = await (await newPlace()).open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      const minutes = { callMinutes: { audio: 0.1, video: 2, total: undefined } }
      const ended = { initiatedAt: CREATED + 1, endedAt: CREATED + 9, totalParticipants: 2, ...minutes }
      await see(store, ledger, completeLook(10, seen('gone', 'ended', ended), seen("ü ' {,} NULL", 'ended', ended)))
      const rows = new Map(contents(ledger).calls)
      await see(store, ledger, completeLook(2000, seen('tracked', 'ended', { endedAt: CREATED + 1990 })))
      const found = await store.evictedCalls('a', ['gone', 'tracked', "ü ' {,} NULL", 'unknown'])
      expect(found).toStrictEqual(rows)
      expect([...found.keys()].toSorted()).toEqual(['gone', "ü ' {,} NULL"])
    })

    test('are those of one target, whatever others have under the same id', async () => {
      const store = await (await newPlace()).open()
      await filled(store, A, { same: 5, one: 6 }, ['same'])
      await filled(store, B, { same: 7, two: 8 }, ['two'])
      const ids = ['same', 'one', 'two']
      const finishes = async (target: string) =>
        Array.from(await store.evictedCalls(target, ids), ([id, call]) => [id, call.finish!.at - CREATED])
      expect(await finishes('a')).toEqual([['one', 6]])
      expect(await finishes('b')).toEqual([['same', 7]])
      expect(await finishes('neither')).toEqual([])
    })

    test('are none where none is asked for, nor once the history has lost them', async () => {
      const store = await (await newPlace()).open()
      await filled(store, A, { old: 5, young: 60 })
      expect(await store.evictedCalls('a', [])).toEqual(new Map())
      await store.trimHistory(CREATED + 50)
      expect([...(await store.evictedCalls('a', ['old', 'young'])).keys()]).toEqual(['young'])
    })

    test('are as many as were asked for', async () => {
      const store = await (await newPlace()).open()
      const ids = Array.from({ length: 1500 }, (_, n) => `call ${n}`)
      await filled(store, A, Object.fromEntries(ids.map((id) => [id, 5])))
      expect([...(await store.evictedCalls('a', ids)).keys()].toSorted()).toEqual(ids.toSorted())
    })

    test('are one row again once they were resumed, and no evicted one any more', async () => {
      const place = await newPlace()
      const store = await place.open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      await see(store, ledger, completeLook(10, seen('c', 'ended', { endedAt: CREATED + 5 })))
      await see(store, ledger, completeLook(2000))
      const again = completeLook(2010, seen('c', 'ended', { endedAt: CREATED + 2005 }))
      const delta = step(ledger, again, OPTIONS, await store.evictedCalls('a', ['c']))!
      await store.commit('a', { ledger: delta, alerts: NO_ALERTS, outgoing: [] })
      apply(ledger, delta, DAY)
      expect([total(ledger, COUNTERS.started), total(ledger, COUNTERS.finished)]).toEqual([1, 1])
      expect(await store.evictedCalls('a', ['c'])).toEqual(new Map())
      await store.close()
      const reopened = await place.open()
      const kept = (await reopened.openTarget(A, CREATED, DAY)).ledger
      expect(contents(kept).calls).toEqual(contents(ledger).calls)
      expect(await reopened.finishedCalls({ since: CREATED, limit: 10 })).toHaveLength(1)
    })
  })
}
