import type { LiveAlert } from '../../alerts/alert.ts'
import type { Notification } from '../../alerts/notification.ts'
import type { Silence } from '../../alerts/match.ts'
import type { OutboxEntry } from '../../store/store.ts'
import type { Message } from '../message.ts'
import type { Attempt } from './attempts.ts'
import type { MergedChanges } from './merge-changes.ts'
import type { Past } from './past.ts'

/** An alert's entries in the outbox, oldest first, and the changes in them. */
export type WaitingAlert = { entries: OutboxEntry[]; changes: Notification[] }

/** Entries of the outbox of a receiver, as one stage of delivery passes them to the next. */
export type Batch =
  /** Alerts of one target and severity. */
  | { kind: 'alerts'; alerts: readonly WaitingAlert[] }
  /** Alerts that are sent now, each with its changes merged. */
  | { kind: 'ready'; alerts: readonly ReadyAlert[] }
  /** A message, and all entries that it contains. */
  | { kind: 'message'; entries: readonly OutboxEntry[]; message: Message }
  /** Entries of a message that was sent, refused, or is retried in a later round. */
  | { kind: 'attempted'; entries: readonly OutboxEntry[]; delivery: Delivery; mayHaveArrived: boolean }
  /** Entries that are removed from the outbox without a message. */
  | { kind: 'discarded'; entries: readonly OutboxEntry[] }

export type ReadyAlert = { alert: WaitingAlert; merged: MergedChanges }

/** What became of one attempt to deliver to a receiver. */
export type Delivery = Attempt & {
  /** The receiver's name. */
  receiver: string
  /** What it was, where it is a message and not the state. */
  message?: Message
}

/** What holds for all stages of one round. */
export type Moment = {
  /** The host's clock (UNIX seconds). */
  now: number
  /** Those that have not ended. */
  silences: readonly Silence[]
  /** The alerts of all targets as they are now. */
  alerts: readonly LiveAlert[]
  /** Reads what may have suppressed alerts that flapped; once, however many batches ask for it. */
  past: () => Promise<Past>
}

/**
 * Takes a batch a step further. Resolves to what the next stage gets, a batch of another stage as it came, or to undefined
 * where the batch waits for a later round. Rejects where the store cannot be used.
 */
export type Stage = (batch: Batch, moment: Moment) => Batch | undefined | Promise<Batch | undefined>

/** The latest change that waits of an alert. */
export function latestOf({ changes }: WaitingAlert): Notification {
  return changes.at(-1)!
}

export function entriesOf(alerts: readonly WaitingAlert[]): OutboxEntry[] {
  return alerts.flatMap(({ entries }) => entries)
}
