import { isCause } from '../../alerts/incidents.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { isBeyond } from '../../alerts/signal.ts'
import type { OutboxEntry } from '../../store/store.ts'
import type { FlappedAlert, AlertUpdate } from '../message.ts'
import type { WaitingAlert } from './batch.ts'

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
