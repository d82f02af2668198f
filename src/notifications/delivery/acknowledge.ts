import type { OutboxEntry, Store } from '../../store/store.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import type { Moment, Stage } from './batch.ts'
import { deliveryNotes, suppressionNotes } from './note.ts'

/**
 * Claims the entries of a message before it is sent: if the process dies meanwhile, the message may have been delivered.
 * Claims entries even if all were claimed before, because the store accepts a claim only from the leader.
 *
 * @param write called before: if what was discarded stayed, it might follow the message
 */
export function claim(store: Pick<Store, 'claimOutbox'>, write: (moment: Moment) => Promise<void>): Stage {
  return async (batch, moment) => {
    if (batch.kind !== 'message') return batch
    await write(moment)
    await store.claimOutbox(ownClaims(batch.entries), true)
    return batch
  }
}

/** Notes what suppresses alerts, then removes what is discarded: before anything is sent, all of a round at once. */
export function writeFound(name: string, store: Pick<Store, 'removeFromOutbox' | 'noteEpisodes'>) {
  const note = suppressionNotes(store)
  return async ({ now: at, suppressed, discarded }: Moment): Promise<void> => {
    await note(suppressed.splice(0))
    const entries = discarded.splice(0)
    if (entries.length === 0) return
    await store.removeFromOutbox(idsOf(entries), deliveryNotes(entries, { receiver: name, at, outcome: 'discarded' }))
  }
}

/**
 * The entries that no one claimed before. An earlier claim stays, since the process that made it may have delivered the entry
 * before it died.
 */
function ownClaims(entries: readonly OutboxEntry[]): number[] {
  return entries.filter(({ claimed }) => !claimed).map(({ id }) => id)
}

/**
 * By receiver, the outcome of its latest message that could not be written to the store yet. Until it is written, callwatch
 * sends nothing more to that receiver. It outlives a sender that is stopped and started again. Changed in place.
 */
export type Unwritten = Map<string, (store: Outbox) => Promise<void>>

type Outbox = Pick<Store, 'claimOutbox' | 'removeFromOutbox'>

/**
 * Removes delivered and permanently refused entries from the outbox, and notes the outcome in the history. An
 * entry that certainly did not arrive loses its claim: if its alert resolves before the next attempt, no one was notified
 * that it fired.
 */
export function acknowledge(name: string, store: Outbox, unwritten: Unwritten): Stage {
  return async (batch, { now: at }) => {
    if (batch.kind !== 'attempted') return batch
    const { entries, delivery, mayHaveArrived, told } = batch
    const { outcome } = delivery
    if (outcome !== 'retried') {
      const notes = deliveryNotes(entries, { receiver: name, at, outcome })
      unwritten.set(name, (outbox) => outbox.removeFromOutbox(idsOf(entries), notes, told))
    } else if (!mayHaveArrived) unwritten.set(name, (outbox) => outbox.claimOutbox(ownClaims(entries), false))
    await writeRest(name, store, unwritten).catch(onlyStoreErrors(undefined))
    return batch
  }
}

/** Writes the outcome that the store could not take before. */
export async function writeRest(name: string, store: Outbox, unwritten: Unwritten): Promise<void> {
  await unwritten.get(name)?.(store)
  unwritten.delete(name)
}

const idsOf = (entries: readonly OutboxEntry[]) => entries.map(({ id }) => id)
