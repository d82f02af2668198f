import type { EpisodeNote } from '../../alerts/episode.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import type { OutboxEntry, Store } from '../../store/store.ts'
import type { Stage } from './batch.ts'
import { ownClaims } from './claim.ts'
import { deliveryNotes } from './note.ts'

/**
 * What was delivered or refused for good, but could not be removed from the outbox yet, by receiver: it must not be sent
 * again. Outlives a sender that is ended and started again. Changed in place.
 */
export type ToRemove = Map<string, { ids: readonly number[]; notes: readonly EpisodeNote[] }>

/**
 * Removes from the outbox what was accepted, refused for good or discarded, and notes that in the history. What certainly did not arrive is claimed no
 * longer: an alert that resolves before the next attempt was not notified.
 */
export function acknowledge(
  name: string,
  store: Pick<Store, 'claimOutbox' | 'removeFromOutbox'>,
  toRemove: ToRemove,
): Stage {
  return async (batch, { now: at }) => {
    if (batch.kind === 'discarded') {
      const notes = deliveryNotes(batch.entries, { receiver: name, at, outcome: 'discarded' })
      await store.removeFromOutbox(idsOf(batch.entries), notes)
    }
    if (batch.kind !== 'attempted') return batch
    const { entries, delivery, mayHaveArrived } = batch
    const { outcome } = delivery
    if (outcome !== 'retried') {
      toRemove.set(name, { ids: idsOf(entries), notes: deliveryNotes(entries, { receiver: name, at, outcome }) })
      await removeDelivered(name, store, toRemove).catch(onlyStoreErrors(undefined))
    } else if (!mayHaveArrived) {
      // If the claim cannot be taken back, its alerts count as notified.
      await store.claimOutbox(ownClaims(entries), false).catch(onlyStoreErrors(undefined))
    }
    return batch
  }
}

/** Removes what could not be removed before. */
export async function removeDelivered(
  name: string,
  store: Pick<Store, 'removeFromOutbox'>,
  toRemove: ToRemove,
): Promise<void> {
  const delivered = toRemove.get(name)
  if (delivered === undefined) return
  await store.removeFromOutbox(delivered.ids, delivered.notes)
  toRemove.delete(name)
}

const idsOf = (entries: readonly OutboxEntry[]) => entries.map(({ id }) => id)
