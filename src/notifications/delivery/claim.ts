import type { OutboxEntry, Store } from '../../store/store.ts'
import type { Stage } from './batch.ts'

/**
 * Claims the entries of a message before it is sent: if the process dies meanwhile, the message may have been delivered.
 * Claims entries even if all were claimed before, because the store accepts a claim only from the leader.
 */
export function claim(store: Pick<Store, 'claimOutbox'>): Stage {
  return async (batch) => {
    if (batch.kind === 'message') await store.claimOutbox(ownClaims(batch.entries), true)
    return batch
  }
}

/**
 * The entries that no one claimed before. An earlier claim stays, since the process that made it may have delivered the entry
 * before it died.
 */
export function ownClaims(entries: readonly OutboxEntry[]): number[] {
  return entries.filter(({ claimed }) => !claimed).map(({ id }) => id)
}
