import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { isBeyond } from '../../alerts/signal.ts'
import type { OutboxEntry } from '../../store/store.ts'
import type { FlappedAlert, AlertUpdate } from '../message.ts'
import type { WaitingAlert } from './batch.ts'

/**
 * The waiting changes of one alert as a message shows them: its state now, a note that it fired and resolved meanwhile, or
 * nothing.
 */
export type MergedChanges =
  | { kind: 'update'; update: AlertUpdate; isNew: boolean; firstAt: number }
  | { kind: 'flapped'; flapped: FlappedAlert }
  | { kind: 'nothing' }

/**
 * Merges all changes of one alert that were not notified yet. Only its state now matters; how often it flapped meanwhile
 * is a number.
 *
 * @param groupWait an alert that resolves sooner (seconds) is not notified of at all
 */
export function mergeChanges(alert: WaitingAlert, groupWait: number): MergedChanges {
  const { changes } = alert
  const [first, last] = [changes[0]!, changes.at(-1)!]
  const ends = changes.filter(hasEnded)
  if (!hasEnded(last)) {
    const kind = first.kind === 'firing' || ends.length > 0 ? 'firing' : last.kind
    const update = { notification: { ...last, kind }, flaps: ends.length }
    return { kind: 'update', update, isNew: !isKnown(alert), firstAt: first.at }
  }
  if (isKnown(alert)) {
    const update = { notification: last, flaps: ends.length - 1 }
    return { kind: 'update', update, isNew: false, firstAt: first.at }
  }
  // By each end's own beginning: not every firing need have an end here.
  const lasted = ends.map(({ at, firingSince }) => at - firingSince)
  if (lasted.every((seconds) => seconds < groupWait)) return { kind: 'nothing' }
  const peak = ends.map((end) => end.peak).reduce((worst, value) => (isBeyond(last, value, worst) ? value : worst))
  const notification = changes.findLast(({ kind }) => kind === 'firing')!
  return { kind: 'flapped', flapped: { notification, times: ends.length, peak, endedAt: last.at } }
}

/**
 * Whether the recipients know that the alert fires. One whose notification may have been delivered before its process died
 * counts as known: its end must be notified as well.
 */
function isKnown({ entries, changes }: WaitingAlert): boolean {
  return changes[0]!.kind !== 'firing' || entries[0]!.claimed
}

/** A time that an alert fired: its entries, since when these say so, and its end. */
export type UnknownTime = { entries: readonly OutboxEntry[]; from: number; change: Notification }

/** The times that an alert fired and ended, and that its recipients know nothing of. */
export function unknownTimes({ entries, changes }: WaitingAlert): UnknownTime[] {
  const all = changes.map((change, i) => ({ change, entry: entries[i]! }))
  return [...Map.groupBy(all, ({ change }) => change.firingSince).values()].flatMap((time) => {
    const [{ change: first }, { change }] = [time[0]!, time.at(-1)!]
    const isUnknown = first.kind === 'firing' && hasEnded(change) && !time.some(({ entry }) => entry.claimed)
    return isUnknown ? { entries: time.map(({ entry }) => entry), from: first.at, change } : []
  })
}
