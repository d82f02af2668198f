import { describe, expect, test } from 'vitest'
import { newLedger } from '../../../src/ledger/state.ts'
import { asked, completePoll, contents, CREATED, seen } from '../../kit/ledger/seen.ts'
import { A, B, DAY, instance, NO_ALERTS, notification, openAt, openIn, type NewPlace } from '../../kit/store/place.ts'
import { finishedCalls } from '../../kit/store/finished-calls.ts'

const FIRING = { alerts: { ...NO_ALERTS, changed: [instance] } }

/** What a store promises of a target that it keeps. */
export function targetContract(newPlace: NewPlace): void {
  describe('a stored target', () => {
    test('is the same after a restart as it was in memory', async () => {
      const { ledger, see, restart } = await openAt(newPlace)
      const minutes = { callMinutes: { audio: 0.1, video: 0.2, total: undefined } }
      const times = { initiatedAt: CREATED + 1, startedAt: CREATED + 3, endedAt: CREATED + 9 }
      const ended = { ...times, totalParticipants: 2, ...minutes, hasParticipantList: false }
      await see(completePoll(5, seen('old', 'ended', { endedAt: CREATED - 5 }), seen('b', 'ongoing', { joined: 2 })))
      await see(completePoll(10, seen('b', 'other'), seen('c', 'ended', ended)))
      await see(completePoll(11, seen('c', 'rejected', { ...ended, type: 'video', hasRecording: true })))
      const again = await restart()
      expect(contents(again.ledger)).toEqual(contents(ledger))
      expect(again.ledger.detailsWanted.size).toBe(1)
    })

    test('keeps when a call without any time was listed, and that an open one was not found', async () => {
      const { ledger, see, restart } = await openAt(newPlace)
      await see(completePoll(1, seen('open', 'ongoing', { initiatedAt: CREATED })))
      await see(completePoll(2, seen('timeless', 'ended')))
      await see({ answers: [asked(CREATED + 900, seen('timeless', 'ended'), ['open'])] })
      const again = await restart()
      expect(again.ledger.calls.get('timeless')?.retainUntil).toBe(CREATED + 900)
      expect(again.ledger.calls.get('open')?.notFound).toBe(1)
      expect(contents(again.ledger)).toEqual(contents(ledger))
    })

    test('has its own calls, counts and alerts, whatever the others have', async () => {
      const { ledger, see, store, restart } = await openAt(newPlace)
      const other = await openIn(store, B)
      await see(completePoll(1, seen('c', 'ongoing')))
      await see(completePoll(2, seen('c', 'ended', { endedAt: CREATED + 2 })))
      await other.see(completePoll(1, seen('c', 'ongoing'), seen('d', 'ongoing')), FIRING)
      const a = await restart()
      const b = await openIn(a.store, B)
      expect([contents(a.ledger), a.alerts]).toEqual([contents(ledger), new Map()])
      expect([contents(b.ledger), b.alerts]).toEqual([contents(other.ledger), new Map([[instance.key, instance]])])
    })

    test('has the calls that are open, of several targets', async () => {
      const { ledger, see, store } = await openAt(newPlace)
      const b = await openIn(store, B)
      const calls = [seen('open', 'ongoing', { joined: 2 }), seen('lost', 'ongoing', { initiatedAt: CREATED })]
      await see(completePoll(1, ...calls, seen('baseline', 'ended', { endedAt: CREATED - 5 })))
      await see(completePoll(2, ...calls, seen('over', 'ended', { endedAt: CREATED + 1 })))
      for (const seconds of [3, 4]) await see({ answers: [asked(CREATED + seconds, undefined, ['lost'])] })
      await b.see(completePoll(1, seen('open', 'initiated'), seen('ended later', 'ongoing')))
      await b.see(completePoll(2, seen('open', 'ongoing'), seen('ended later', 'ended', { endedAt: CREATED + 2 })))
      const open = async (...targets: string[]) => Map.groupBy(await store.openCalls(targets), ({ target }) => target)
      const ofA = Array.from(ledger.open.values(), (call) => ({ target: 'a', call }))
      const ofB = Array.from(b.ledger.open.values(), (call) => ({ target: 'b', call }))
      expect([ofA.length, ofB.length]).toEqual([1, 1])
      expect(await open('a', 'b', 'c')).toStrictEqual(new Map([['a', ofA], ['b', ofB]])) // oxfmt-ignore
      expect(await open('b')).toStrictEqual(new Map([['b', ofB]]))
      expect(await open()).toEqual(new Map())
    })

    test('that is new is set up at the moment at which it was first opened', async () => {
      const { ledger, store, place } = await openAt(newPlace)
      expect(ledger.sync.created).toBe(CREATED)
      await store.close()
      expect((await (await place.open()).openTarget(A, CREATED + 900, DAY)).ledger.sync.created).toBe(CREATED)
    })

    test('with the name of another one is refused, with what to do', async () => {
      const { store } = await openAt(newPlace)
      const refused = { kind: 'refused', message: expect.stringContaining('--reset-target a') }
      await expect(store.openTarget({ name: 'a', fingerprint: 'y' }, CREATED, DAY)).rejects.toMatchObject(refused)
    })

    test('that was reset starts from nothing, and costs the others nothing', async () => {
      const { store, see } = await openAt(newPlace)
      await openIn(store, B)
      await see(completePoll(1, seen('c', 'ongoing')))
      await store.resetTarget('a', [])
      const again = await store.openTarget({ name: 'a', fingerprint: 'y' }, CREATED + 9, DAY)
      expect([again.ledger.calls.size, again.ledger.counters.size, again.ledger.sync.seq]).toEqual([0, 0, 0])
      expect((await store.openTarget(B, CREATED + 9, DAY)).ledger.sync.created).toBe(CREATED)
    })

    test('that was reset has no count, no call and no alert of before, also after a restart', async () => {
      const { store, see } = await openAt(newPlace)
      await see(completePoll(1, seen('b', 'ongoing')), FIRING)
      await store.resetTarget('a', [notification])
      // Set up again by the first, and read by the second.
      for (const _restart of [1, 2]) {
        const again = await store.openTarget(A, CREATED + 60, DAY)
        expect(contents(again.ledger)).toEqual(contents(newLedger(CREATED + 60)))
        expect(again.alerts.size).toBe(0)
      }
    })

    test('after an outage longer than any window has the calls that finished in it, also after a restart', async () => {
      const { ledger, see, restart } = await openAt(newPlace)
      await see(completePoll(5))
      await see(completePoll(3 * DAY, seen('c', 'ended', { endedAt: CREATED + 100 })))
      expect(contents(ledger).finished).toHaveLength(1)
      expect(contents((await restart()).ledger).finished).toEqual(contents(ledger).finished)
    })

    test('keeps an evicted call in its history if it was counted, and deletes it if not', async () => {
      const { see, restart } = await openAt(newPlace)
      const ended = { endedAt: CREATED + 1, hasRecording: true }
      const over = [seen('old', 'ended', { endedAt: CREATED - 5 }), seen('c', 'ended', ended)]
      await see(completePoll(2, ...over))
      await see(completePoll(2000))
      const { evicted } = await see(completePoll(2000))
      expect(evicted.map(({ id }) => id).toSorted()).toEqual(['c', 'old'])
      const { ledger, store } = await restart()
      expect(ledger.calls.size).toBe(0)
      expect(contents(ledger).finished).toHaveLength(1)
      expect(ledger.finished.tally(CREATED, CREATED + 2)).toMatchObject([{ n: 1, isRecorded: true }])
      const history = await finishedCalls(store, { since: CREATED, limit: 10 })
      expect(history.map(({ call }) => call.id)).toEqual(['c'])
      await store.deleteExpired(CREATED + 2)
      expect(await finishedCalls(store, { since: CREATED, limit: 10 })).toEqual([])
    })

    test('tracks a call again that was evicted and counts again, also after a restart', async () => {
      const { ledger, see, restart } = await openAt(newPlace)
      await see(completePoll(2, seen('c', 'ended', { endedAt: CREATED + 1 })))
      await see(completePoll(2000))
      await see(completePoll(2000))
      await see(completePoll(2010, seen('c', 'ended')))
      const again = await restart()
      expect(contents(again.ledger).calls).toEqual(contents(ledger).calls)
      expect(again.ledger.calls.size).toBe(1)
    })
  })
}
