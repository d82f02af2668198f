import { isCause } from '../../alerts/incidents.ts'
import { hasEnded, instanceOf, type Notification } from '../../alerts/notification.ts'
import { isBeyond } from '../../alerts/signal.ts'
import type { OutboxEntry, ToldGroup, OutboxContent } from '../../store/store.ts'
import type { Group, GroupOf } from '../grouping.ts'
import type { AlertUpdate, FlappedAlert, Message, DigestMessage, PastMessage } from '../message.ts'
import type { Attempt } from './attempts.ts'
import { SEVERITIES } from '../../alerts/match-keys.ts'
import { nameOf, type LiveAlert } from '../../alerts/alert.ts'

/** A change of an alert that waits in the outbox. */
export type WaitingChange = OutboxEntry & { content: Notification }

export const isChange = (entry: OutboxEntry): entry is WaitingChange => entry.content.kind !== 'digest'

/** An alert's entries in the outbox, oldest first. */
export type WaitingAlert = {
  entries: WaitingChange[]
  /** Since when nothing suppresses it (the host's clock, UNIX seconds). */
  freeSince?: number
  /** Less severe alerts on the same calls, which it inhibits. */
  inhibits?: readonly WaitingAlert[]
}

/** An alert to send now, with its changes merged. */
export type ReadyAlert = WaitingAlert & { merged: AlertUpdate | FlappedAlert }

/** Alerts that are sent together. */
export type Batch = { group: Group; alerts: readonly WaitingAlert[] }

/** A message, and all entries that it contains. */
export type Composed = {
  /** What it is about: the key of the group, or `digests`. */
  subject: string
  entries: readonly OutboxEntry[]
  message: Message
  /** What the receiver knows of the group after the message; absent in a digest. */
  told?: ToldGroup
}

/** The outcome of one attempt to deliver to a receiver. */
export type Delivery = Attempt & {
  /** The receiver's name. */
  receiver: string
  /** The message; absent if a state was delivered. */
  message?: Message
}

/** The latest waiting change of an alert. */
export function latestOf({ entries }: WaitingAlert): Notification {
  return entries.at(-1)!.content
}

/**
 * Merges all changes of an alert that were not notified yet. A message shows the alert's current state, and how often it flapped in
 * between, or notes that it fired and resolved in between. If calls could not be read or requests failed for a while, and no receiver
 * knows, that is no news any more: undefined.
 */
export function mergeChanges(alert: WaitingAlert): AlertUpdate | FlappedAlert | undefined {
  const changes = alert.entries.map(({ content }) => content)
  const [first, last] = [changes[0]!, changes.at(-1)!]
  const ends = changes.filter(hasEnded)
  if (!hasEnded(last)) {
    const kind = first.kind === 'firing' || ends.length > 0 ? 'firing' : last.kind
    return { notification: { ...last, kind }, flaps: ends.length }
  }
  if (isKnown(alert)) return { notification: last, flaps: ends.length - 1 }
  if (isCause(last)) return undefined
  return {
    notification: changes.findLast(({ kind }) => kind === 'firing')!,
    times: ends.length,
    peak: ends.map((end) => end.peak).reduce((worst, value) => (isBeyond(last, value, worst) ? value : worst)),
    endedAt: last.at,
    ...(last.kind === 'expired' && { hasExpired: true }),
  }
}

/**
 * Whether the recipients know that the alert fires. If a process died that may have delivered the notification, they may
 * know, so the end must be notified as well.
 */
export function isKnown({ entries: [first] }: WaitingAlert): boolean {
  return first!.content.kind !== 'firing' || first!.claimed
}

/** One time that an alert fired: its entries, the time of the first change, and the last change. */
export type UnknownTime = { entries: readonly OutboxEntry[]; from: number; change: Notification }

/** The times that an alert fired and ended without any recipient knowing. */
export function unknownTimes(alert: WaitingAlert): UnknownTime[] {
  const times = Map.groupBy(alert.entries, ({ content }) => content.firingSince)
  return [...times.values()].flatMap((entries) => {
    const [first, change] = [entries[0]!.content, entries.at(-1)!.content]
    const isUnknown = first.kind === 'firing' && hasEnded(change) && !entries.some(({ claimed }) => claimed)
    return isUnknown ? { entries, from: first.at, change } : []
  })
}

/**
 * Groups a receiver's waiting entries, the most urgent first, then the digests.
 *
 * @param entries oldest first
 */
export function group(entries: readonly OutboxEntry[], groupOf: GroupOf): (Batch | Composed)[] {
  // All changes of an alert are in the group of the latest: its rule's severity may have been edited in between.
  const groups = Map.groupBy(waitingAlerts(entries), (alert) => groupOf(latestOf(alert)).key)
  const batches = [...groups.values()].map((alerts): Batch => ({ group: groupOf(latestOf(alerts[0]!)), alerts }))
  const urgency = ({ alerts }: Batch) => Math.min(...alerts.map(urgencyOf))
  return [...batches.toSorted((a, b) => urgency(a) - urgency(b)), ...digestIn(entries)]
}

/** Alerts that fire come first, then known ones that have ended, then those that came and went. */
function urgencyOf(alert: WaitingAlert): number {
  const change = latestOf(alert)
  return SEVERITIES.indexOf(change.severity) + (hasEnded(change) ? (isKnown(alert) ? 10 : 20) : 0)
}

const DIGESTS = 'digests'

/** Identifies the alert of an entry. */
export function alertNameOf(content: OutboxContent): string {
  return content.kind === 'digest' ? DIGESTS : nameOf(content)
}

/** The name of an alert as it is. */
export const liveNameOf = ({ target, instance: { key } }: LiveAlert) => nameOf({ target, key })

/** The alerts as they are, or as a change that waits says: other daemons may show an alert later than its change is in the outbox. */
export function withWaiting(alerts: readonly LiveAlert[], entries: readonly OutboxEntry[]): LiveAlert[] {
  const lives = new Map(alerts.map((live) => [liveNameOf(live), live]))
  for (const change of waitingAlerts(entries).map(latestOf)) {
    const live = lives.get(nameOf(change))
    if (hasEnded(change)) {
      if (live !== undefined && (live.instance.firingSince ?? Infinity) <= change.firingSince)
        lives.delete(nameOf(change))
    } else if (live === undefined || live.instance.state === 'pending') {
      lives.set(nameOf(change), { target: change.target, instance: instanceOf(change) })
    }
  }
  return [...lives.values()]
}

/** If the digests of several days wait, only the last one is sent. Reports of the past are sent one after the other. */
function digestIn(all: readonly OutboxEntry[]): Composed[] {
  const digests = all.flatMap((entry) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- daily-digest.ts and past-report.ts enqueue them
    entry.content.kind === 'digest' ? { entry, message: entry.content.digest as DigestMessage | PastMessage } : [],
  )
  const batches = Map.groupBy(digests, ({ entry, message }) => (message.kind === 'past' ? entry.id : DIGESTS))
  return [...batches.values()].map((batch) => {
    return { subject: DIGESTS, entries: batch.map(({ entry }) => entry), message: batch.at(-1)!.message }
  })
}

/** Groups the entries by alert. */
export function waitingAlerts(entries: readonly OutboxEntry[]): WaitingAlert[] {
  const byAlert = Map.groupBy(entries.filter(isChange), ({ content }) => nameOf(content))
  return [...byAlert.values()].map((own) => ({ entries: own }))
}
