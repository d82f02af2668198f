import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { AlertDelta } from '../alerts/evaluate.ts'
import type { EvaluationRecord } from '../alerts/trigger.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Delta, LedgerState } from '../ledger/state.ts'
import type { ClusterStore } from './cluster-store.ts'
import type { commandStoreOn, storeOn } from './store-on.ts'

/** What one poll or tick changes of a target, in one transaction. */
export type Commit = {
  ledger: Delta
  alerts: AlertDelta
  /** The changes of alerts that are notified, each with its receivers. */
  routedChanges: readonly RoutedChange[]
  /** The evaluation that `alerts` came from. */
  evaluated?: EvaluationRecord
  /** Undefined where it has none. */
  events?: NewEvents | undefined
  /** The time without a successful poll that this commit ends, where it was long. */
  gap?: Gap | undefined
}

/** Rollups (history/rollup.ts) of a quarter of an hour and of its hour, by targets' numbers. Times are UNIX seconds. */
export type RollupUpdate = {
  /** How often rollups had been saved before anything of this was read: where they were saved since, nothing is saved. */
  after: number
  quarter: number
  /** What was stale when they were added up: where it has become stale once more, nothing is saved. */
  versions: readonly { target: number; version: number }[]
  /** As they are encoded; undefined where there is none any more. */
  rollups: readonly {
    target: number
    width: number
    at: number
    encoded: { byLabels: Uint8Array; withoutLabels: Uint8Array } | undefined
  }[]
}

/** When no poll of a target was successful (UNIX seconds by the service's clock). */
export type Gap = { began: number; ended: number }

/** The events of a commit, for the log. */
export type NewEvents = {
  /** A UUID of its own. */
  id: string
  /** When they were found, by the host's clock (UNIX seconds). */
  at: number
  /** Each as JSON, in order. */
  texts: readonly string[]
  /** The participants of each as JSON, empty where it has none; undefined where none has. */
  participants?: readonly string[]
}

/** The events of a commit in the log. Positions begin at 1 and rise from commit to commit, with gaps. */
export type LoggedEvents = NewEvents & {
  position: number
  target: string
  /** How many events the log has had, up to this commit and with it. */
  total: number
}

/** A target as the store last committed it. */
export type StoredTarget = { ledger: LedgerState; alerts: Map<string, AlertInstance> }

/** A change of an alert, and the receivers that its route selects. An end goes to the recipients of its beginning instead. */
export type RoutedChange = { change: Notification; receivers: readonly string[] }

/** What waits to be sent by one receiver. */
export type OutboxEntry = {
  id: number
  content: OutboxContent
  /** An earlier attempt to deliver it has begun: it may have been sent already. */
  claimed: boolean
}

/** A change of one alert, or a day's digest as its receiver will show it (JSON). */
export type OutboxContent = Notification | { kind: 'digest'; digest: unknown }

/** What identifies a target: under the name of one, another fingerprint is refused. */
export type TargetIdentity = { name: string; fingerprint: string }

/**
 * Keeps all that is counted. Every method rejects with a {@link StoreError} when the store cannot be used now. Nothing has
 * changed then, unless the answer was lost with its connection: the request may have been carried out.
 */
export type Store = ReturnType<typeof storeOn>['store'] & {
  /**
   * Checks all that the store has for damage, beside everything else; absent where the database does so by itself.
   *
   * @throws {StoreError} refused: it is damaged
   */
  check?: (onTable: OnTable) => Promise<void>
  /** What the daemons know of each other, where several use this store. */
  readonly cluster?: ClusterStore
}

/** Called before each table is read, of so many (`3 of 24`). */
export type OnTable = (table: string, place: string) => void

/** What a command may do with a store while daemons use it. They see its changes when they read the store next. */
export type CommandStore = ReturnType<typeof commandStoreOn>
