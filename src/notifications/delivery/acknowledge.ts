import { onlyStoreErrors, type Store } from '../../store/store.ts'
import type { Stage } from './batch.ts'
import { ownClaims } from './claim.ts'

/**
 * What was delivered or refused for good, but could not be removed from the outbox yet, by receiver: it must not be sent
 * again. Outlives a sender that is ended and started again. Changed in place.
 */
export type ToRemove = Map<string, readonly number[]>

/**
 * Removes from the outbox what was accepted, refused for good or discarded. What certainly did not arrive is claimed no
 * longer: an alert that resolves before the next attempt was not notified.
 */
export function acknowledge(
  name: string,
  store: Pick<Store, 'claimOutbox' | 'removeFromOutbox'>,
  toRemove: ToRemove,
): Stage {
  return async (batch) => {
    if (batch.kind === 'discarded') await store.removeFromOutbox(batch.entries.map(({ id }) => id))
    if (batch.kind !== 'attempted') return batch
    const { entries, delivery, mayHaveArrived } = batch
    if (delivery.outcome !== 'retried') {
      toRemove.set(
        name,
        entries.map(({ id }) => id),
      )
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
  const ids = toRemove.get(name)
  if (ids === undefined) return
  await store.removeFromOutbox(ids)
  toRemove.delete(name)
}
