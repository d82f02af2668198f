import type { OutboxEntry, ToldGroup } from '../../store/store.ts'
import type { Notification } from '../../alerts/notification.ts'
import type { Group } from '../grouping.ts'
import type { AlertUpdate, FlappedAlert, Message } from '../message.ts'
import type { Attempt } from './attempts.ts'

/** A change of an alert that waits in the outbox. */
export type WaitingChange = OutboxEntry & { content: Notification }

/** An alert's entries in the outbox, oldest first. */
export type WaitingAlert = {
  entries: WaitingChange[]
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
