import type { Incident } from '../../alerts/incidents.ts'
import type { Silence } from '../../alerts/match.ts'
import type { OutboxEntry, Telling, ToldGroup } from '../../store/store.ts'
import type { LiveAlert } from '../../alerts/alert.ts'
import type { Notification } from '../../alerts/notification.ts'
import type { Group } from '../grouping.ts'
import type { Message } from '../message.ts'
import type { Inhibited, Inhibitors } from './inhibition.ts'
import type { Attempt } from './attempts.ts'
import type { MergedChanges } from './merge-changes.ts'
import type { Suppressed } from './note.ts'
import type { Past } from './past.ts'
import type { Age } from './wait.ts'

/** An alert's entries in the outbox, oldest first, and their changes. */
export type WaitingAlert = {
  entries: OutboxEntry[]
  changes: Notification[]
  /** Less severe alerts on the same calls, which it inhibits. */
  inhibits?: readonly WaitingAlert[]
}

/** Outbox entries of one receiver, as one stage of delivery passes them to the next. */
export type Batch =
  /** Alerts that are sent together. */
  | { kind: 'alerts'; group: Group; alerts: readonly WaitingAlert[] }
  /** Alerts to send now, each with its changes merged. */
  | { kind: 'ready'; group: Group; alerts: readonly ReadyAlert[] }
  /** A message, all entries that it contains, and what it is about: the key of the group, or `digests`. */
  | { kind: 'message'; subject: string; entries: readonly OutboxEntry[]; message: Message; told?: Telling }
  /** Entries of a message after an attempt: sent, refused, or to be retried in a later round. */
  | { kind: 'attempted'; entries: readonly OutboxEntry[]; delivery: Delivery; mayHaveArrived: boolean; told?: Telling }

export type ReadyAlert = { alert: WaitingAlert; merged: MergedChanges }

/** The outcome of one attempt to deliver to a receiver. */
export type Delivery = Attempt & {
  /** The receiver's name. */
  receiver: string
  /** The message; absent if a state was delivered. */
  message?: Message
}

/** What all stages of one round share. */
export type Moment = {
  /** The host's clock (UNIX seconds). */
  now: number
  /** The silences that have not expired. */
  silences: readonly Silence[]
  /** The alerts of all targets as they are now. */
  alerts: readonly LiveAlert[]
  /** Those of them that inhibit an alert. */
  inhibitorsOf: (alert: Inhibited) => readonly Inhibited[]
  /** The targets whose calls cannot be polled. */
  unseen: ReadonlySet<string>
  /** All that fires in a group. */
  incident: (group: string) => Incident | undefined
  /** What the receiver was told of each group. */
  told: ReadonlyMap<string, ToldGroup>
  /** The alerts with changes that wait for the receiver: JSON of target and key. */
  waiting: ReadonlySet<string>
  /** How long ago a change was put into the outbox, by the id of the entry, and something was told. */
  age: Age
  toldAge: Age
  /** Reads the silences and the alerts that may have suppressed alerts that flapped. It reads once, however many batches call it. */
  past: () => Promise<Past & Pick<Moment, 'inhibitorsOf'>>
  /**
   * What the stages found and is not written yet: alerts that something suppresses, and entries to remove without a message.
   * Both are changed in place.
   */
  suppressed: Suppressed[]
  discarded: OutboxEntry[]
}

/** A moment as it is read. */
export type Read = Pick<Moment, 'now' | 'silences' | 'alerts' | 'told' | 'waiting' | 'age' | 'toldAge'> & {
  past: () => Promise<Past>
  incidents: () => readonly Incident[]
}

/** @param inhibitorsAmong of the receiver */
export function momentOf({ incidents, ...read }: Read, inhibitorsAmong: Inhibitors): Moment {
  const unseen = read.alerts.filter(
    ({ instance: { rule, state } }) => rule.signal.name === 'poll_age' && state !== 'pending',
  )
  let past: ReturnType<Moment['past']> | undefined
  let byGroup: ReadonlyMap<string, Incident> | undefined
  return {
    ...read,
    incident: (group) => (byGroup ??= new Map(incidents().map((incident) => [incident.key, incident]))).get(group),
    suppressed: [],
    discarded: [],
    inhibitorsOf: inhibitorsAmong(read.alerts),
    unseen: new Set(unseen.map(({ target }) => target)),
    past: () =>
      (past ??= read.past().then(({ silences, fired }) => ({ silences, fired, inhibitorsOf: inhibitorsAmong(fired) }))),
  }
}

/**
 * Takes a batch one step further. Resolves to the batch for the next stage, or to undefined if the batch waits for a later
 * round. Passes on batches of other stages unchanged. Rejects if the store cannot be used.
 */
export type Stage = (batch: Batch, moment: Moment) => Batch | undefined | Promise<Batch | undefined>

/** The latest waiting change of an alert. */
export function latestOf({ changes }: WaitingAlert): Notification {
  return changes.at(-1)!
}

export function entriesOf(alerts: readonly WaitingAlert[]): OutboxEntry[] {
  return alerts.flatMap(({ entries }) => entries)
}
