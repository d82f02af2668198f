import type { Notification } from '../../alerts/notification.ts'
import type { PassedAlert, AlertUpdate } from '../message.ts'
import type { WaitingAlert } from './batch.ts'

/** How the changes of one alert that wait come out together: as it is now, as a note in passing, or as nothing at all. */
export type Outcome =
  | { kind: 'update'; update: AlertUpdate; isNew: boolean; firstAt: number }
  | { kind: 'passed'; passed: PassedAlert }
  | { kind: 'nothing' }

/**
 * What is to be said of one alert, given all of its changes that were not notified yet. Only how it is now matters; how
 * often it flapped meanwhile is a number.
 *
 * @param groupWait an alert that resolves sooner (seconds) is not notified of at all
 */
export function outcomeOf(alert: WaitingAlert, groupWait: number): Outcome {
  const { changes } = alert
  const [first, last] = [changes[0]!, changes.at(-1)!]
  const ends = changes.filter(isOver)
  if (!isOver(last)) {
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
  const isWorse = (a: number, b: number) => (last.breach === 'above' ? a > b : a < b)
  const peak = ends.map((end) => end.peak).reduce((worst, value) => (isWorse(value, worst) ? value : worst))
  const notification = changes.findLast(({ kind }) => kind === 'firing')!
  return { kind: 'passed', passed: { notification, times: ends.length, peak, over: last.at } }
}

/**
 * Whether the recipients know that the alert fires. One whose notification may have been delivered before its process died
 * counts as known: its end must be notified as well.
 */
export function isKnown({ entries, changes }: WaitingAlert): boolean {
  return changes[0]!.kind !== 'firing' || entries[0]!.claimed
}

export function isOver({ kind }: Notification): boolean {
  return kind === 'resolved' || kind === 'closed'
}
