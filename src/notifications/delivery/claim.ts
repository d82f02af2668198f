import type { OutboxEntry, Store } from '../../store/store.ts'
import type { Stage } from './batch.ts'

/**
 * Claims the entries of a message before it is sent: if the process dies meanwhile, it may have been delivered. Also where
 * all were claimed before, for the store refuses it to a daemon that does not lead.
 */
export function claim(store: Pick<Store, 'claimOutbox'>): Stage {
  return async (batch) => {
    if (batch.kind === 'message') await store.claimOutbox(ownClaims(batch.entries), true)
    return batch
  }
}

/** What one of before claimed may have been delivered by a process that died since: that claim is not ours to take back. */
export function ownClaims(entries: readonly OutboxEntry[]): number[] {
  return entries.filter(({ claimed }) => !claimed).map(({ id }) => id)
}
