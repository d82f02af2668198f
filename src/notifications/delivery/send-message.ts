import type { OutboxEntry, Store } from '../../store/store.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import type { Message } from '../message.ts'
import type { MessageReceiver } from '../receiver.ts'
import type { Attempts } from './attempts.ts'
import { alertNameOf, isChange, type Composed, type Delivery } from './waiting-alert.ts'
import type { Moment } from './moment.ts'
import { suppressionName, type EpisodeNote, type Notice, type Suppression } from '../../alerts/episode.ts'

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
type Sender = { receiver: MessageReceiver; attempts: Attempts; store: Outbox; unwritten: Unwritten }

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
  { receiver, attempts, store, unwritten }: Sender,
): Promise<Delivery> {
  const { name } = receiver
  await store.claimOutbox(ownClaims(entries), true)
  const ids = [...new Set(entries.map(({ content }) => alertNameOf(content)))]
  let knows = told
  const work = async () => {
    const posted = await receiver.send(message)
    if (told !== undefined && typeof posted === 'string') knows = { ...told, posted }
  }
  const attempt = await attempts.attempt(work, { subject, drops: isPast(message, now), ids })
  const { outcome, mayHaveArrived } = attempt
  if (outcome !== 'retried') {
    const notes = deliveryNotes(entries, { receiver: name, at: now, outcome })
    const telling = knows && { receiver: name, group: subject, told: knows }
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

/** The notes about a message in the history of alerts: for each alert, one that it fires and one that it ended. */
export function deliveryNotes(entries: readonly OutboxEntry[], notice: Omit<Notice, 'kind'>): EpisodeNote[] {
  const episodes = Map.groupBy(entries.filter(isChange), ({ content }) => episodeOf(content))
  return [...episodes.values()].map((all) => {
    const begun = all.find(({ content }) => !hasEnded(content))
    const ended = all.find(({ content }) => hasEnded(content))
    const notes = [begun, ended]
      .filter((one) => one !== undefined)
      .map((one): Notice => ({ ...notice, kind: one.content.kind }))
    // The message reports only the end. Whether the earlier message arrived is unknown.
    if (begun?.claimed === true && ended !== undefined) notes[0]!.outcome = 'unknown'
    return noteOn(all[0]!.content, notes)
  })
}

/** Names one time that an alert fired. */
const episodeOf = ({ target, key, firingSince }: Notification) => JSON.stringify([target, key, firingSince])

/** What suppresses an alert, and the alert's latest change. */
export type Suppressed = { change: Notification; by: readonly Suppression[] }

/** The most notes that are kept in memory: then all are forgotten, and what still holds is noted once more. */
const MAX_NOTED = 200_000

/** Notes in the history why alerts wait, each reason once in the life of a sender. */
export function suppressionNotes(
  store: Pick<Store, 'noteEpisodes'>,
): (suppressed: readonly Suppressed[]) => Promise<void> {
  const noted = new Set<string>()
  const nameOf = (change: Notification, by: Suppression) => `${episodeOf(change)} ${suppressionName(by)}`
  return async (suppressed) => {
    const unnoted = suppressed
      .map(({ change, by }) => ({ change, by: by.filter((one) => !noted.has(nameOf(change, one))) }))
      .filter(({ by }) => by.length > 0)
    if (unnoted.length === 0) return
    await store.noteEpisodes(unnoted.map(({ change, by }) => noteOn(change, by)))
    for (const { change, by } of unnoted) for (const one of by) noted.add(nameOf(change, one))
    if (noted.size > MAX_NOTED) noted.clear()
  }
}

function noteOn({ target, key, firingSince }: Notification, notes: readonly (Notice | Suppression)[]): EpisodeNote {
  return { target, key, since: firingSince, lines: notes.map((note) => `${JSON.stringify(note)}\n`).join('') }
}
