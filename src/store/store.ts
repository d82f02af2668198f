import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { AlertDelta } from '../alerts/evaluate.ts'
import type { EvaluationRecord } from '../alerts/trigger.ts'
import type { Severity } from '../alerts/match-keys.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Delta, LedgerState } from '../ledger/state.ts'
import type { webhooks } from './webhooks.ts'
import type { ClusterStore } from './cluster-store.ts'
import type { commandStoreOn, storeOn } from './store-on.ts'

/** The changes of a target by one observation or tick, committed in one transaction. */
export type Commit = {
  ledger: Delta
  alerts: AlertDelta
  /** The notified changes of alerts, each with its receivers. */
  routedChanges: readonly RoutedChange[]
  /** The evaluation that caused the changes of alerts. */
  evaluated?: EvaluationRecord
  /** Undefined if there are no events. */
  events?: NewEvents | undefined
  /** The time without a successful poll that this commit ends, if it was long. */
  gap?: Gap | undefined
}

/** Rollups (history/rollups.ts) of a quarter of an hour and of its hour, by the numbers of targets. Times are UNIX seconds. */
export type RollupUpdate = {
  /** How often rollups had been saved when this was read. If others were saved since, nothing is saved. */
  after: number
  quarter: number
  /** The stale quarters when this was computed. If one became stale again, nothing is saved. */
  versions: readonly { target: number; version: number }[]
  /** The encoded rollups; undefined if there is none any more. */
  rollups: readonly {
    target: number
    width: number
    at: number
    encoded: { byLabels: Uint8Array; withoutLabels: Uint8Array } | undefined
  }[]
}

/** A period without a successful poll (UNIX seconds by the service's clock). */
export type Gap = { began: number; ended: number }

/** The events of a commit, for the event log. */
export type NewEvents = {
  /** A new UUID. */
  id: string
  /** When the events were detected (UNIX seconds by the host's clock). */
  at: number
  /** The JSON of each event, in order. */
  texts: readonly string[]
  /** The participants of each event as JSON, empty if it has none; undefined if no event has any. */
  participants?: readonly string[]
}

/** The events of a commit in the log. Positions begin at 1 and increase from commit to commit, with gaps. */
export type LoggedEvents = NewEvents & {
  position: number
  target: string
  /** How many events the log has had, up to and including this commit. */
  total: number
}

/** The last committed state of a target. */
export type StoredTarget = { ledger: LedgerState; alerts: Map<string, AlertInstance> }

/** A change of an alert, and the receivers of its route. An end goes to the recipients of its beginning instead. */
export type RoutedChange = { change: Notification; receivers: readonly string[] }

/** An entry that waits in the outbox of one receiver. */
export type OutboxEntry = Awaited<ReturnType<Store['outbox']>>[number]

/** A change of one alert, or the digest of a day as its receiver will show it (JSON). */
export type OutboxContent = Notification | { kind: 'digest'; digest: unknown }

/** What a receiver was told last of a group of alerts that fires, or of which some came and went. */
export type ToldGroup = {
  /** When the last message was sent, and when the group began to fire (the host's clock, UNIX seconds). */
  at: number
  begun: number
  /** From when the interval counts (the host's clock, UNIX seconds): messages about growth do not begin it again. */
  interval: number
  /** Whether a message since `begun` told of growth. */
  hasGrown: boolean
  /** How often the group began to fire again within an interval. */
  begunAgain: number
  /** On how many targets alerts of the group fired, and the highest severity that was told. */
  targets: number
  severity: Severity
  /** What identifies its message at a receiver that edits it. */
  posted?: string
}

/** What a receiver was told of a group by a message. */
export type Telling = { receiver: string; group: string; told: ToldGroup }

/** Identifies a target. A stored name with another fingerprint is refused. */
export type TargetIdentity = { name: string; fingerprint: string }

/**
 * Stores everything that is counted. Every method rejects with a {@link StoreError} if the store cannot be used now. Then nothing
 * has changed, unless the answer was lost with its connection: then the request may have been carried out.
 */
export type Store = ReturnType<typeof storeOn>['store'] & {
  /**
   * Checks the whole store for damage, in the background; absent if the database does so on its own.
   *
   * @throws {StoreError} refused: it is damaged
   */
  check?: (onTable: OnTable) => Promise<void>
  /** The membership of the daemons, if several share this store. */
  readonly cluster?: ClusterStore
}

/** Called before each table is read, with the number of tables (`3 of 24`). */
type OnTable = (table: string, place: string) => void

/** The changes that a command can make to a store while daemons use it. They see them when they next read the store. */
export type CommandStore = ReturnType<typeof commandStoreOn>

/** A place in the event log. */
export type LogPlace = { position: number; place: number }

/** The progress of a webhook. Times are UNIX seconds by the host's clock. */
export type WebhookProgress = {
  /** Every event up to this cursor was delivered, is listed as undelivered, or is not wanted (events/cursor.ts). */
  cursor: string
  /** Why the webhook is paused. It delivers nothing until it is resumed. */
  paused?: string
  /** Since when it is not configured. */
  removedAt?: number
  deliveredAt?: number
  /** Since when an event keeps failing, and why. */
  failingSince?: number | undefined
  problem?: string | undefined
}

/** An event before the cursor of a webhook that it has not received. */
export type UndeliveredEvent = LogPlace & {
  /** The UUID of the commit. */
  id: string
  /** Events of one series are delivered in order. */
  series: string
  /** When the event was detected (UNIX seconds by the host's clock). */
  at: number
  /** Whether it is a dead letter, which is delivered only if it is replayed. */
  dead: boolean
  attempts: number
  /** Since when every attempt was refused (UNIX seconds by the host's clock). */
  refusedSince?: number | undefined
  problem?: string
}

/** The stored state of a webhook. */
export type StoredWebhook = Awaited<ReturnType<WebhookStore['webhooks']>>[number]

export type WebhookChange = {
  name: string
  /** The revision that was read; 0 for a new webhook. */
  revision: number
  /** Undefined removes the webhook and all of its undelivered events. */
  progress: WebhookProgress | undefined
  /** New or changed undelivered events. */
  put?: readonly UndeliveredEvent[]
  /** Events that were delivered meanwhile, or given up. */
  remove?: readonly LogPlace[]
  /** Removes all undelivered events from this place on. */
  removeFrom?: LogPlace
}

/** The webhooks of a store. */
export type WebhookStore = ReturnType<typeof webhooks>
