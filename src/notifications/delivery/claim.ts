import type { OutboxEntry, Store } from '../../store/store.ts'
import type { Stage } from './batch.ts'

/**
 * Claims the entries of a message before it is sent: if the process dies meanwhile, it may have been delivered. Claims even
 * if all were claimed before, because the store refuses a claim of any daemon but the leader.
 */
export function claim(store: Pick<Store, 'claimOutbox'>): Stage {
  return async (batch) => {
    if (batch.kind === 'message') await store.claimOutbox(ownClaims(batch.entries), true)
    return batch
  }
}

/** The entries without an earlier claim. Such a claim is kept: a process that died since may have delivered its entry. */
export function ownClaims(entries: readonly OutboxEntry[]): number[] {
  return entries.filter(({ claimed }) => !claimed).map(({ id }) => id)
}
