import { describe, expect, test } from 'vitest'
import { apply } from '../../../src/ledger/state.ts'
import { step } from '../../../src/ledger/step.ts'
import { completeLook, contents, CREATED, seen } from '../../ledger/seen.ts'
import { A, DAY, instance, NO_ALERTS, OPTIONS, see, type NewPlace } from './place.ts'

/** What a store promises of a commit. */
export function commitContract(newPlace: NewPlace): void {
  describe('a commit', () => {
    test('that does not follow the stored sequence number is refused, and changes nothing', async () => {
      const store = await (await newPlace()).open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      const first = step(ledger, completeLook(1, seen('b', 'ongoing')), OPTIONS)!
      const rival = step(ledger, completeLook(1, seen('c', 'ongoing')), OPTIONS)!
      await store.commit('a', { ledger: first, alerts: NO_ALERTS, outgoing: [] })
      await expect(store.commit('a', { ledger: rival, alerts: NO_ALERTS, outgoing: [] })).rejects.toMatchObject({
        kind: 'stale',
      })
      await expect(store.commit('a', { ledger: first, alerts: NO_ALERTS, outgoing: [] })).rejects.toMatchObject({
        kind: 'stale',
      })
      const { ledger: stored } = await store.openTarget(A, CREATED, DAY)
      expect([...contents(stored).calls.keys()]).toEqual(['b'])
      expect(stored.counters).toEqual(first.counters)
    })

    test('that fails on its way leaves nothing behind', async () => {
      const store = await (await newPlace()).open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      const delta = step(ledger, completeLook(1, seen('b', 'ongoing')), OPTIONS)!
      const broken = { ...delta, counters: new Map<string, number>([['a series', Number.NaN]]) }
      await expect(store.commit('a', { ledger: broken, alerts: NO_ALERTS, outgoing: [] })).rejects.toMatchObject({
        kind: 'unavailable',
      })
      await store.commit('a', { ledger: delta, alerts: NO_ALERTS, outgoing: [] })
      const { ledger: stored } = await store.openTarget(A, CREATED, DAY)
      expect(stored.counters).toEqual(delta.counters)
    })

    test('of more calls than one statement takes keeps them all', async () => {
      const store = await (await newPlace()).open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      const calls = Array.from({ length: 257 }, (_, i) => seen(`call ${i}`, 'ongoing'))
      await see(store, ledger, completeLook(1, ...calls))
      expect((await store.openTarget(A, CREATED, DAY)).ledger.open.size).toBe(257)
    })

    test('alert instances are kept until they end', async () => {
      const store = await (await newPlace()).open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      const first = step(ledger, completeLook(1), OPTIONS)!
      await store.commit('a', { ledger: first, alerts: { ...NO_ALERTS, changed: [instance] }, outgoing: [] })
      apply(ledger, first, DAY)
      const { alerts } = await store.openTarget(A, CREATED, DAY)
      expect(alerts.get('NoGoodPoll')).toEqual(instance)
      const second = step(ledger, completeLook(2), OPTIONS)!
      await store.commit('a', { ledger: second, alerts: { ...NO_ALERTS, ended: [instance] }, outgoing: [] })
      expect((await store.openTarget(A, CREATED, DAY)).alerts.size).toBe(0)
    })
  })
}
