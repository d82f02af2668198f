import type { OutboxEntry, Store } from '../../store/store.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import { hasEnded } from '../../alerts/notification.ts'
import type { Message } from '../message.ts'
import type { MessageReceiver } from '../receiver.ts'
import type { Attempts } from './attempts.ts'
import type { Composed, Delivery } from './waiting-alert.ts'
import type { Moment } from './moment.ts'
import { alertOf } from './group.ts'
import { deliveryNotes, suppressionNotes } from './note.ts'

/** A message about the ends of alerts that a receiver refuses is offered again for this long after the last of them. */
const LONGEST_REFUSED_SECONDS = 86_400

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
 * By receiver, the outcome of its latest message that could not be written to the store yet. Until it is written, callwatch
 * sends nothing more to that receiver. It outlives a sender that is stopped and started again. Changed in place.
 */
export type Unwritten = Map<string, (store: Outbox) => Promise<void>>

type Outbox = Pick<Store, 'claimOutbox' | 'removeFromOutbox'>

/**
 * Attempts to send a message. Claims its entries before: if the process dies meanwhile, the message may have been delivered. Claims them
 * even if all were claimed before, because the store accepts a claim only from the leader. After the message was delivered or permanently
 * refused, removes them, and notes the outcome in the history. An entry that certainly did not arrive loses its claim: if its alert
 * resolves before the next attempt, no one was notified that it fired. Rejects if the store cannot be used before the attempt.
 *
 * @param now the host's clock (UNIX seconds)
 */
export async function sendMessage(
  { subject, entries, message, told }: Composed,
  now: number,
  {
    receiver,
    attempts,
    store,
    unwritten,
  }: { receiver: MessageReceiver; attempts: Attempts; store: Outbox; unwritten: Unwritten },
): Promise<Delivery> {
  const { name } = receiver
  await store.claimOutbox(ownClaims(entries), true)
  const ids = [...new Set(entries.map(({ content }) => alertOf(content)))]
  let posted: string | undefined
  const work = async () => {
    posted = (await receiver.send(message)) ?? undefined
  }
  const drops = isPast(message, now)
  const attempt = await attempts.attempt(work, { subject, drops, ids })
  const { outcome, mayHaveArrived } = attempt
  if (outcome !== 'retried') {
    const notes = deliveryNotes(entries, { receiver: name, at: now, outcome })
    const telling = told && {
      receiver: name,
      group: subject,
      told: { ...told, ...(posted !== undefined && { posted }) },
    }
    unwritten.set(name, (outbox) => outbox.removeFromOutbox(idsOf(entries), notes, telling))
  } else if (!mayHaveArrived) unwritten.set(name, (outbox) => outbox.claimOutbox(ownClaims(entries), false))
  await writeRest(name, store, unwritten).catch(onlyStoreErrors(undefined))
  return { receiver: name, message, ...attempt }
}

/**
 * The entries that no one claimed before. An earlier claim stays, since the process that made it may have delivered the entry
 * before it died.
 */
function ownClaims(entries: readonly OutboxEntry[]): number[] {
  return idsOf(entries.filter(({ claimed }) => !claimed))
}

/** Whether a message has only alerts that ended long ago. */
function isPast(message: Message, now: number): boolean {
  if (message.kind !== 'alerts' || message.isEdit === true) return false
  const { alerts, flapped } = message
  const ends = [
    ...alerts.map(({ notification }) => (hasEnded(notification) ? notification.at : now)),
    ...flapped.map(({ endedAt }) => endedAt),
  ]
  return ends.every((at) => now - at > LONGEST_REFUSED_SECONDS)
}

/** Writes the outcome that the store could not take before. */
export async function writeRest(name: string, store: Outbox, unwritten: Unwritten): Promise<void> {
  await unwritten.get(name)?.(store)
  unwritten.delete(name)
}

const idsOf = (entries: readonly OutboxEntry[]) => entries.map(({ id }) => id)
