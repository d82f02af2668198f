import { describe, expect, test } from 'vitest'
import { imbalancesOf } from '../../../src/ledger/balance.ts'
import { newDraft } from '../../../src/ledger/delta-draft.ts'
import { apply, type LedgerState } from '../../../src/ledger/state.ts'
import type { Store } from '../../../src/store/store.ts'
import { asked, completeLook, CREATED, seen } from '../../ledger/seen.ts'
import { A, DAY, NO_ALERTS, see, type NewPlace } from './place.ts'

/** A store in which there are an open call, one that finished and was corrected, a baseline call and one that is lost. */
async function counted(store: Store): Promise<LedgerState> {
  const { ledger } = await store.openTarget(A, CREATED, DAY)
  const minutes = (audio: number, video: number) => ({
    callMinutes: { audio, video, total: undefined },
    participantMinutes: { audio: audio * 2, video: video * 2, total: undefined },
  })
  const open = seen('open', 'ongoing', { initiatedAt: CREATED + 1, ...minutes(0.1, 0.2) })
  const lost = seen('lost', 'ongoing', { initiatedAt: CREATED + 1, ...minutes(0.3, 0) })
  const over = (audio: number) =>
    seen('over', 'ended', { initiatedAt: CREATED + 1, endedAt: CREATED + 3, ...minutes(audio, 2) })
  const baseline = seen('baseline', 'ended', { endedAt: CREATED - 5, ...minutes(7, 7) })
  await see(store, ledger, completeLook(5, open, lost, over(1.5), baseline))
  await see(store, ledger, completeLook(10, open, over(1.2), baseline))
  for (const seconds of [11, 12]) {
    await see(store, ledger, { sightings: [asked(CREATED + seconds, undefined, ['lost'])] })
  }
  expect(ledger.calls.get('lost')?.phase).toBe('lost')
  return ledger
}

const about = (amounts: readonly number[]) => amounts.map((amount) => expect.closeTo(amount, 9))

/** What a store promises of counters, rows, and what was counted of rows that were deleted. */
export function balanceContract(newPlace: NewPlace): void {
  describe('the balance', () => {
    test('has the counters of all labels, less corrections, and what the rows come to', async () => {
      const place = await newPlace()
      const store = await place.open()
      await counted(store)
      const reader = await place.reader()
      const balance = await reader.balance(A.name)
      const all = [3, 1, 0.1 + 0.3 + 1.2, 2.2, 2 * (0.1 + 0.3 + 1.2), 4.4]
      expect(balance).toEqual({ counters: about(all), rows: about(all), settled: [0, 0, 0, 0, 0, 0] })
      await reader.close()
      await store.close()
    })

    test('holds when calls are forgotten that never finished, and when others leave the history', async () => {
      const place = await newPlace()
      const store = await place.open()
      const ledger = await counted(store)
      await see(store, ledger, completeLook(5000))
      expect([...ledger.calls.values()].map(({ id }) => id)).toEqual(['open'])
      const reader = await place.reader()
      const forgotten = await reader.balance(A.name)
      expect(forgotten.settled).toEqual(about([1, 0, 0.3, 0, 0.6, 0]))
      expect(forgotten.rows).toEqual(about([2, 1, 1.3, 2.2, 2.6, 4.4]))
      await store.trimHistory(CREATED + 4)
      const trimmed = await reader.balance(A.name)
      expect(trimmed.settled).toEqual(about([2, 1, 1.5, 2, 3, 4]))
      expect(trimmed.rows).toEqual(about([1, 0, 0.1, 0.2, 0.2, 0.4]))
      expect(trimmed.counters).toEqual(forgotten.counters)
      expect([forgotten, trimmed].map(imbalancesOf)).toEqual([[], []])
      await reader.close()
      await store.close()
    })

    test('holds for a call that is new and forgotten in one commit', async () => {
      const place = await newPlace()
      const store = await place.open()
      const ledger = await counted(store)
      const { delta, add } = newDraft(ledger.facts)
      const call = { ...ledger.calls.get('lost')!, id: 'brief', counted: [0, 0, 0, 0] }
      delta.calls.set(call.id, call)
      delta.forgotten.push(call)
      add('callwatch_calls_started_total|audio|call|user', 1)
      await store.commit(A.name, { ledger: delta, alerts: NO_ALERTS, outgoing: [] })
      apply(ledger, delta, DAY)
      const reader = await place.reader()
      const balance = await reader.balance(A.name)
      expect([balance.settled![0], imbalancesOf(balance)]).toEqual([1, []])
      await reader.close()
      await store.close()
    })

    test('begins from nothing with a target that was reset, and is of one target', async () => {
      const place = await newPlace()
      const store = await place.open()
      const ledger = await counted(store)
      await see(store, ledger, completeLook(5000))
      await store.openTarget({ name: 'b', fingerprint: 'x' }, CREATED, DAY)
      await store.resetTarget(A.name, [])
      const reader = await place.reader()
      const nothing = [0, 0, 0, 0, 0, 0]
      expect((await reader.balance(A.name)).settled).toBe(undefined)
      await store.openTarget(A, CREATED, DAY)
      for (const name of ['a', 'b']) {
        expect(await reader.balance(name)).toEqual({ counters: nothing, rows: nothing, settled: nothing })
      }
      await reader.close()
      await store.close()
    })
  })
}
