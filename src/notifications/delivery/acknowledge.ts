import { onlyStoreErrors } from '../../store/store-error.ts'
import type { OutboxEntry, Store } from '../../store/store.ts'
import type { Stage } from './batch.ts'
import { ownClaims } from './claim.ts'
import { deliveryNotes } from './note.ts'

/**
 * What became of the latest message of each receiver, where the store could not be told yet: before that, nothing more may be
 * sent to it. Outlives a sender that is ended and started again. Changed in place.
 */
export type Unwritten = Map<string, (store: Outbox) => Promise<void>>

type Outbox = Pick<Store, 'claimOutbox' | 'removeFromOutbox'>

/**
 * Removes from the outbox what was accepted, refused for good or discarded, and notes that in the history. What certainly did
 * not arrive is claimed no longer: an alert that resolves before the next attempt was not notified.
 */
export function acknowledge(name: string, store: Outbox, unwritten: Unwritten): Stage {
  return async (batch, { now: at }) => {
    if (batch.kind !== 'discarded' && batch.kind !== 'attempted') return batch
    const { entries } = batch
    const remove = (outcome: 'discarded' | 'sent' | 'dropped', outbox = store) =>
      outbox.removeFromOutbox(idsOf(entries), deliveryNotes(entries, { receiver: name, at, outcome }))
    if (batch.kind === 'discarded') {
      await remove('discarded')
      return batch
    }
    const { delivery, mayHaveArrived } = batch
    const { outcome } = delivery
    if (outcome !== 'retried') unwritten.set(name, (outbox) => remove(outcome, outbox))
    else if (!mayHaveArrived) unwritten.set(name, (outbox) => outbox.claimOutbox(ownClaims(entries), false))
    await writeRest(name, store, unwritten).catch(onlyStoreErrors(undefined))
    return batch
  }
}

/** Tells the store what it could not be told before. */
export async function writeRest(name: string, store: Outbox, unwritten: Unwritten): Promise<void> {
  await unwritten.get(name)?.(store)
  unwritten.delete(name)
}

const idsOf = (entries: readonly OutboxEntry[]) => entries.map(({ id }) => id)
