import { describe, expect, test } from 'vitest'
import { apply, newLedger } from '../../../src/ledger/state.ts'
import { step } from '../../../src/ledger/step.ts'
import { asked, completeLook, contents, CREATED, seen } from '../../ledger/seen.ts'
import { A, DAY, instance, NO_ALERTS, OPTIONS, see, type NewPlace } from './place.ts'

/** What a store promises of a target that it keeps. */
export function targetContract(newPlace: NewPlace): void {
  describe('a stored target', () => {
    test('is the same after a restart as it was in memory', async () => {
      const place = await newPlace()
      const store = await place.open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      const minutes = { callMinutes: { audio: 0.1, video: 0.2, total: undefined } }
      const ended = {
        initiatedAt: CREATED + 1,
        startedAt: CREATED + 3,
        endedAt: CREATED + 9,
        totalParticipants: 2,
        ...minutes,
      }
      await see(
        store,
        ledger,
        completeLook(5, seen('old', 'ended', { endedAt: CREATED - 5 }), seen('b', 'ongoing', { joined: 2 })),
      )
      await see(
        store,
        ledger,
        completeLook(10, seen('b', 'other'), seen('c', 'ended', { ...ended, hasParticipantList: false })),
      )
      await see(
        store,
        ledger,
        completeLook(11, seen('c', 'rejected', { ...ended, type: 'video', hasParticipantList: false })),
      )
      await store.close()

      const again = await (await place.open()).openTarget(A, CREATED + 500, DAY)
      expect(contents(again.ledger)).toEqual(contents(ledger))
      expect(again.ledger.detailsWanted.size).toBe(1)
    })

    test('keeps when a call without any time was listed, and that an open one was not found', async () => {
      const place = await newPlace()
      const store = await place.open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      await see(store, ledger, completeLook(1, seen('open', 'ongoing', { initiatedAt: CREATED })))
      await see(store, ledger, completeLook(2, seen('timeless', 'ended')))
      await see(store, ledger, { sightings: [asked(CREATED + 900, seen('timeless', 'ended'), ['open'])] })
      await store.close()

      const again = await (await place.open()).openTarget(A, CREATED + 901, DAY)
      expect(again.ledger.calls.get('timeless')?.retainUntil).toBe(CREATED + 900)
      expect(again.ledger.calls.get('open')?.notFound).toBe(1)
      expect(contents(again.ledger)).toEqual(contents(ledger))
    })

    test('has its own calls, counts and alerts, whatever the others have', async () => {
      const place = await newPlace()
      const store = await place.open()
      const B = { name: 'b', fingerprint: 'z' }
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      const { ledger: other } = await store.openTarget(B, CREATED, DAY)
      await see(store, ledger, completeLook(1, seen('c', 'ongoing')))
      await see(store, ledger, completeLook(2, seen('c', 'ended', { endedAt: CREATED + 2 })))
      const delta = step(other, completeLook(1, seen('c', 'ongoing'), seen('d', 'ongoing')), OPTIONS)!
      await store.commit('b', { ledger: delta, alerts: { ...NO_ALERTS, changed: [instance] }, outgoing: [] })
      apply(other, delta, DAY)
      await store.close()

      const again = await place.open()
      const [a, b] = [await again.openTarget(A, CREATED, DAY), await again.openTarget(B, CREATED, DAY)]
      expect({ ...a, ledger: contents(a.ledger) }).toEqual({ ledger: contents(ledger), alerts: new Map() })
      expect({ ...b, ledger: contents(b.ledger) }).toEqual({
        ledger: contents(other),
        alerts: new Map([[instance.rule.name, instance]]),
      })
    })

    test('that is new is set up at the moment it was first opened', async () => {
      const place = await newPlace()
      const store = await place.open()
      expect((await store.openTarget(A, CREATED, DAY)).ledger.facts.created).toBe(CREATED)
      await store.close()
      expect((await (await place.open()).openTarget(A, CREATED + 900, DAY)).ledger.facts.created).toBe(CREATED)
    })

    test('with a name that stood for something else is refused, with what to do', async () => {
      const store = await (await newPlace()).open()
      await store.openTarget(A, CREATED, DAY)
      const opened = store.openTarget({ name: 'a', fingerprint: 'y' }, CREATED, DAY)
      await expect(opened).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('--reset-target a'),
      })
    })

    test('that was reset starts from nothing, and costs the others nothing', async () => {
      const store = await (await newPlace()).open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      await store.openTarget({ name: 'b', fingerprint: 'z' }, CREATED, DAY)
      await see(store, ledger, completeLook(1, seen('c', 'ongoing')))
      await store.resetTarget('a', [])
      const again = await store.openTarget({ name: 'a', fingerprint: 'y' }, CREATED + 9, DAY)
      expect([again.ledger.calls.size, again.ledger.counters.size, again.ledger.facts.seq]).toEqual([0, 0, 0])
      expect((await store.openTarget({ name: 'b', fingerprint: 'z' }, CREATED + 9, DAY)).ledger.facts.created).toBe(
        CREATED,
      )
    })

    test('that was reset has no count, no call and no alert of before, after a restart neither', async () => {
      const store = await (await newPlace()).open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      const delta = step(ledger, completeLook(1, seen('b', 'ongoing')), OPTIONS)!
      await store.commit('a', { ledger: delta, alerts: { ...NO_ALERTS, changed: [instance] }, outgoing: [] })
      await store.resetTarget('a', [])
      // Set up again by the first, and read by the second.
      for (const _restart of [1, 2]) {
        const again = await store.openTarget(A, CREATED + 60, DAY)
        expect(contents(again.ledger)).toEqual(contents(newLedger(CREATED + 60)))
        expect(again.alerts.size).toBe(0)
      }
    })

    test('after an outage longer than any window has the calls that finished in it, also after a restart', async () => {
      const place = await newPlace()
      const store = await place.open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      await see(store, ledger, completeLook(5))
      await see(store, ledger, completeLook(3 * DAY, seen('c', 'ended', { endedAt: CREATED + 100 })))
      expect(contents(ledger).finished).toHaveLength(1)
      await store.close()
      const again = await (await place.open()).openTarget(A, CREATED, DAY)
      expect(contents(again.ledger).finished).toEqual(contents(ledger).finished)
    })

    test('a call that need not be remembered stays in the history if it was counted, and else goes', async () => {
      const place = await newPlace()
      const store = await place.open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      const over = [seen('old', 'ended', { endedAt: CREATED - 5 }), seen('c', 'ended', { endedAt: CREATED + 1 })]
      await see(store, ledger, completeLook(2, ...over))
      const { forgotten } = await see(store, ledger, completeLook(2000))
      expect(forgotten.map(({ id }) => id).toSorted()).toEqual(['c', 'old'])
      await store.close()

      const reopened = await place.open()
      const again = await reopened.openTarget(A, CREATED, DAY)
      expect(again.ledger.calls.size).toBe(0)
      expect(contents(again.ledger).finished).toHaveLength(1)
      const history = await reopened.finishedCalls({ since: CREATED, limit: 10 })
      expect(history.map(({ call }) => call.id)).toEqual(['c'])
      await reopened.trimHistory(CREATED + 2)
      expect(await reopened.finishedCalls({ since: CREATED, limit: 10 })).toEqual([])
    })

    test('a call that was forgotten and counts again is remembered again, over a restart', async () => {
      const place = await newPlace()
      const store = await place.open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      await see(store, ledger, completeLook(2, seen('c', 'ended', { endedAt: CREATED + 1 })))
      await see(store, ledger, completeLook(2000))
      await see(store, ledger, completeLook(2010, seen('c', 'ended')))
      await store.close()
      const again = await (await place.open()).openTarget(A, CREATED, DAY)
      expect(contents(again.ledger).calls).toEqual(contents(ledger).calls)
      expect(again.ledger.calls.size).toBe(1)
    })

    test('trimming the history takes nothing that is still remembered', async () => {
      const store = await (await newPlace()).open()
      const { ledger } = await store.openTarget(A, CREATED, DAY)
      await see(store, ledger, completeLook(2, seen('c', 'ended', { endedAt: CREATED + 1 })))
      await store.trimHistory(CREATED + 500)
      expect(await store.finishedCalls({ since: CREATED, limit: 10 })).toHaveLength(1)
    })
  })
}
