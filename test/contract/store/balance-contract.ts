import { describe, expect, test } from 'vitest'
import { imbalancesOf } from '../../../src/ledger/balance.ts'
import { newDraft } from '../../../src/ledger/delta/delta-draft.ts'
import { asked, completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { A, B, commitOf, openAt, openIn, type NewPlace } from '../../kit/store/place.ts'

/** A store in which there are an open call, one that finished and was corrected, a baseline call and one that is lost. */
async function counted(newPlace: NewPlace) {
  const target = await openAt(newPlace)
  const { see, ledger, place } = target
  const minutes = (audio: number, video: number) => ({
    callMinutes: { audio, video, total: undefined },
    participantMinutes: { audio: audio * 2, video: video * 2, total: undefined },
  })
  const open = seen('open', 'ongoing', { initiatedAt: CREATED + 1, ...minutes(0.1, 0.2) })
  const lost = seen('lost', 'ongoing', { initiatedAt: CREATED + 1, ...minutes(0.3, 0) })
  const over = (audio: number) =>
    seen('over', 'ended', { initiatedAt: CREATED + 1, endedAt: CREATED + 3, ...minutes(audio, 2) })
  const baseline = seen('baseline', 'ended', { endedAt: CREATED - 5, ...minutes(7, 7) })
  await see(completePoll(5, open, lost, over(1.5), baseline))
  await see(completePoll(10, open, over(1.2), baseline))
  for (const seconds of [11, 12]) await see({ answers: [asked(CREATED + seconds, undefined, ['lost'])] })
  expect(ledger.calls.get('lost')?.phase).toBe('lost')
  const balance = async (name = A.name) => {
    const reader = await place.reader()
    const read = await reader.balance(name)
    await reader.close()
    return read
  }
  return { ...target, balance }
}

const about = (amounts: readonly number[]) => amounts.map((amount) => expect.closeTo(amount, 9))

/** What a store promises of counters, rows, and what was counted of rows that were deleted. */
export function balanceContract(newPlace: NewPlace): void {
  describe('the balance', () => {
    test('has the counters of all labels, less corrections, and what the rows come to', async () => {
      const { balance } = await counted(newPlace)
      const all = [3, 1, 0.1 + 0.3 + 1.2, 2.2, 2 * (0.1 + 0.3 + 1.2), 4.4]
      expect(await balance()).toEqual({ counters: about(all), rows: about(all), deletedTotals: [0, 0, 0, 0, 0, 0] })
    })

    test('agrees when calls are evicted, and when they expire', async () => {
      const { balance, see, ledger, store } = await counted(newPlace)
      await see(completePoll(5000))
      await see(completePoll(5000))
      expect([...ledger.calls.values()].map(({ id }) => id)).toEqual(['open'])
      const evicted = await balance()
      expect(evicted.deletedTotals).toEqual([0, 0, 0, 0, 0, 0])
      expect(evicted.rows).toEqual(about([3, 1, 1.6, 2.2, 3.2, 4.4]))
      await store.deleteExpired(CREATED + 4)
      const expired = await balance()
      expect(expired.deletedTotals).toEqual(about([1, 1, 1.2, 2, 2.4, 4]))
      // A call that is lost finished when that was noticed.
      await store.deleteExpired(CREATED + 13)
      const deleted = await balance()
      expect(deleted.deletedTotals).toEqual(about([2, 1, 1.5, 2, 3, 4]))
      expect(deleted.rows).toEqual(about([1, 0, 0.1, 0.2, 0.2, 0.4]))
      expect(deleted.counters).toEqual(evicted.counters)
      expect([evicted, expired, deleted].map(imbalancesOf)).toEqual([[], [], []])
    })

    test('agrees for a call that is new and evicted in one commit', async () => {
      const { balance, ledger, store } = await counted(newPlace)
      const { delta, add } = newDraft(ledger.sync)
      const call = { ...ledger.calls.get('lost')!, id: 'brief', minutes: [0, 0, 0, 0] }
      delta.calls.set(call.id, call)
      delta.evicted.push(call)
      add('callwatch_calls_started_total|audio|call|user', 1)
      await store.commit(A.name, commitOf(delta))
      const read = await balance()
      expect([read.rows[0], imbalancesOf(read)]).toEqual([4, []])
    })

    test('begins from nothing with a target that was reset, and is of one target', async () => {
      const { balance, see, store } = await counted(newPlace)
      await see(completePoll(5000))
      await see(completePoll(5000))
      const before = await balance()
      await openIn(store, B)
      expect(await balance()).toEqual(before)
      const nothing = [0, 0, 0, 0, 0, 0]
      const empty = { counters: nothing, rows: nothing, deletedTotals: nothing }
      expect(await balance('b')).toEqual(empty)
      await store.resetTarget(A.name, [])
      expect(await balance()).toEqual(empty)
      await openIn(store)
      for (const name of ['a', 'b']) expect(await balance(name)).toEqual(empty)
    })
  })
}
