import { describe, expect, test } from 'vitest'
import { completePoll, contents, seen } from '../../kit/ledger/seen.ts'
import { commitOf, instance, NO_ALERTS, openAt, openIn, type NewPlace } from '../../kit/store/place.ts'

/** What a store promises of a commit. */
export function commitContract(newPlace: NewPlace): void {
  describe('a commit', () => {
    test('that does not follow the stored sequence number is refused, and changes nothing', async () => {
      const { store, deltaOf } = await openAt(newPlace)
      const first = deltaOf(completePoll(1, seen('b', 'ongoing')))
      const rival = deltaOf(completePoll(1, seen('c', 'ongoing')))
      await store.commit('a', commitOf(first))
      for (const stale of [rival, first]) {
        await expect(store.commit('a', commitOf(stale))).rejects.toMatchObject({ kind: 'stale' })
      }
      const { ledger } = await openIn(store)
      expect([...contents(ledger).calls.keys()]).toEqual(['b'])
      expect(ledger.counters).toEqual(first.counters)
    })

    test('that fails leaves nothing behind', async () => {
      const { store, deltaOf } = await openAt(newPlace)
      const delta = deltaOf(completePoll(1, seen('b', 'ongoing')))
      const broken = commitOf({ ...delta, counters: new Map([['a series', Number.NaN]]) })
      await expect(store.commit('a', broken)).rejects.toMatchObject({ kind: 'unavailable' })
      await store.commit('a', commitOf(delta))
      expect((await openIn(store)).ledger.counters).toEqual(delta.counters)
    })

    test('of more calls than one statement takes keeps them all', async () => {
      const { store, see } = await openAt(newPlace)
      await see(completePoll(1, ...Array.from({ length: 257 }, (_, i) => seen(`call ${i}`, 'ongoing'))))
      expect((await openIn(store)).ledger.open.size).toBe(257)
    })

    test('keeps alert instances until they end', async () => {
      const { store, see } = await openAt(newPlace)
      await see(completePoll(1), { alerts: { ...NO_ALERTS, changed: [instance] } })
      expect((await openIn(store)).alerts.get('NoGoodPoll')).toEqual(instance)
      await see(completePoll(2), { alerts: { ...NO_ALERTS, ended: [instance] } })
      expect((await openIn(store)).alerts.size).toBe(0)
    })
  })
}
