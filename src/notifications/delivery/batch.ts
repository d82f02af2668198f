import type { LiveAlert } from '../../alerts/alert-instance.ts'
import type { Notification } from '../../alerts/notification.ts'
import type { Silence } from '../../alerts/match.ts'
import type { OutboxEntry } from '../../store/store.ts'
import type { Message } from '../message.ts'
import type { Outcome } from './outcome.ts'

/** All that waits in the outbox of one alert, oldest first: the entries, and the changes in them. */
export type WaitingAlert = { entries: OutboxEntry[]; changes: Notification[] }

/** Some of what waits for a receiver, on its way through the stages of delivery. */
export type Batch =
  /** Alerts of one target and severity. */
  | { kind: 'alerts'; alerts: readonly WaitingAlert[] }
  /** Alerts that go out now, and what is said of each. */
  | { kind: 'ready'; alerts: readonly ReadyAlert[] }
  /** A message, and all entries that it speaks of. */
  | { kind: 'message'; entries: readonly OutboxEntry[]; message: Message }
  | { kind: 'delivered'; entries: readonly OutboxEntry[]; delivery: Delivery; mayHaveArrived: boolean }
  /** Entries of which nothing is said any more. */
  | { kind: 'dropped'; entries: readonly OutboxEntry[] }

export type ReadyAlert = { alert: WaitingAlert; outcome: Outcome }

/** What became of one attempt to deliver. */
export type Delivery = {
  notifier: string
  message: Message
  outcome: 'sent' | 'retried' | 'dropped'
  /** Why it was not sent. */
  problem?: string
  /** A bug that kept it from being sent. */
  error?: unknown
}

/** What holds for all stages of one round. */
export type Moment = {
  /** The host's clock (UNIX seconds). */
  now: number
  /** Those that have not ended. */
  silences: readonly Silence[]
  /** The alerts of all targets as they are now. */
  alerts: readonly LiveAlert[]
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
