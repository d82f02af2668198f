import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { EpisodeNote } from '../alerts/episode.ts'
import type { AlertDelta } from '../alerts/evaluate.ts'
import type { EvaluationRecord } from '../alerts/trigger.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Silence } from '../alerts/match.ts'
import type { FinalStatus } from '../ledger/call.ts'
import type { FinishedCounts } from '../ledger/finished-calls.ts'
import type { Delta, LedgerState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { RowReader } from './row-reader.ts'
import type { ClusterStore } from './cluster-store.ts'
import type { WebhookStore } from './webhook-store.ts'

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
export type Store = {
  /**
   * A target's state; sets the target up where it is new.
   *
   * @param created the host's clock (UNIX seconds), for a new target
   * @param longestWindow how far back finished calls are needed for windows (seconds)
   */
  openTarget: (identity: TargetIdentity, created: number, longestWindow: number) => Promise<StoredTarget>
  /** Deletes all rows of a target but its events and past alerts, and enqueues and logs the ends of its alerts; opened again, it starts from nothing. */
  resetTarget: (name: string, routedChanges: readonly RoutedChange[], events?: NewEvents) => Promise<void>
  /** A target's calls that were counted and evicted, by id: those of these ids that the history still has. */
  evictedCalls: (target: string, ids: readonly string[]) => Promise<Map<string, TrackedCall>>
  /** Commits a delta that follows the stored sequence number by one; any other is refused as stale. */
  commit: (target: string, commit: Commit) => Promise<void>
  /** All that waits for this receiver, the oldest first. */
  outbox: (receiver: string) => Promise<OutboxEntry[]>
  /**
   * The sender claims entries before it sends them, and takes the claim back if the receiver certainly did not get the
   * message. Where several daemons share the store, a claim of any but the leader is refused as stale, also one of no entry.
   */
  claimOutbox: (ids: readonly number[], claimed: boolean) => Promise<void>
  /** Removes entries that were delivered, refused for good or discarded, and notes that; once, however often it is asked to. */
  removeFromOutbox: (ids: readonly number[], notes?: readonly EpisodeNote[]) => Promise<void>
  /** Adds to the history of alerts what is known of their delivery. */
  noteEpisodes: (notes: readonly EpisodeNote[]) => Promise<void>
  /** How much waits, by receiver. */
  countOutbox: () => Promise<ReadonlyMap<string, number>>
  /** Enqueues something for each receiver, unless this deduplication key was used before. */
  enqueueOnce: (key: string, content: OutboxContent, receivers: readonly string[]) => Promise<void>
  /** From now on these are all configured receivers: what waits for any other is removed, and nothing is enqueued for it. */
  setReceivers: (receivers: readonly string[]) => Promise<void>
  /** Targets other than these that are not marked as removed yet, or have alerts, with their alerts. */
  strayTargets: (targets: readonly string[]) => Promise<{ target: string; alerts: AlertInstance[] }[]>
  /**
   * Deletes all alerts of a target, and enqueues and logs their ends.
   *
   * @param removed the host's clock (UNIX seconds), of a target that left the configuration: its open calls are shown as lost
   * from then on, until it is opened again
   */
  expireAlerts: (
    target: string,
    routedChanges: readonly RoutedChange[],
    events?: NewEvents,
    removed?: number,
  ) => Promise<void>
  /** Silences that have not expired by then (UNIX seconds). */
  silences: (now: number) => Promise<Silence[]>
  addSilence: (silence: Omit<Silence, 'id'>) => Promise<Silence>
  /**
   * Replaces a silence that is active at `now` and was edited once less; resolves with whether there was one, so that of two
   * edits at the same time one is refused.
   */
  editSilence: (silence: Silence, now: number) => Promise<boolean>
  /** Expires a silence that is active at `now`, which is its end then; resolves with whether there was one. */
  expireSilence: (id: number, now: number) => Promise<boolean>
  /** Until when requests with a budget key are paused by a rate limit (UNIX seconds by the host's clock). */
  pausedUntil: (key: string) => Promise<number | undefined>
  /** Pauses them until then; a pause that is longer already stays. */
  pauseUntil: (key: string, until: number) => Promise<void>
  /** Outcomes of a target's calls that finished from one moment to (but not at) another. */
  countFinished: (target: string, from: number, to: number) => Promise<FinishedCounts>
  /**
   * How many calls of these targets finished in each of so many minutes from a moment on (UNIX seconds), by the status that
   * they were counted with.
   */
  finishedPerMinute: (targets: readonly string[], from: number, minutes: number) => Promise<MinuteCount[]>
  /** The open calls of these targets, in any order. */
  openCalls: (targets: readonly string[]) => Promise<{ target: string; call: TrackedCall }[]>
  /** The participant minutes of a target from one moment to another (UNIX seconds), to the quarter of an hour (ledger/usage.ts). */
  usedMinutes: (target: string, from: number, to: number) => Promise<number>
  /**
   * The commits of the log from a position on, that one included, in its order: all that have `most` events together, and
   * one at least.
   */
  events: (position: number, most: number) => Promise<LoggedEvents[]>
  /** The newest commits of the log, in its order: all that have `most` events together, and one at least. */
  latestEvents: (most: number) => Promise<LoggedEvents[]>
  /**
   * Checks all that the store has for damage, beside everything else; absent where the database does so by itself.
   *
   * @throws {StoreError} refused: it is damaged
   */
  check?: (onTable: OnTable) => Promise<void>
  /** How large the store is, without copies and logs of the database (bytes). */
  size: () => Promise<number>
  /**
   * Deletes expired rows: evicted calls, past alerts, silences and evaluations from before `before` (UNIX seconds), older usage,
   * and targets that were removed before then.
   */
  deleteExpired: (before: number) => Promise<void>
  /**
   * Deletes the commits of the log from its beginning to the first one from after `before` (UNIX seconds by the host's
   * clock), but for the newest of them: a reader that has read it has missed nothing.
   *
   * @param end those from this position on are kept
   */
  deleteEvents: (before: number, end?: number) => Promise<void>
  /** Saves rollups, which are not stale any more then, unless what they were added up from has changed meanwhile. */
  saveRollups: (update: RollupUpdate) => Promise<void>
  /** Erases the participants of all events in the log. */
  eraseParticipants: () => Promise<void>
  close: () => Promise<void>
  /** What the daemons know of each other, where several use this store. */
  readonly cluster?: ClusterStore
} & WebhookStore &
  RowReader

/** Called before each table is read, of so many (`3 of 24`). */
export type OnTable = (table: string, place: string) => void

/** What a command may do with a store while daemons use it. They see its changes when they read the store next. */
export type CommandStore = Pick<
  Store,
  'silences' | 'addSilence' | 'editSilence' | 'expireSilence' | 'events' | 'latestEvents' | 'close' | keyof WebhookStore
>

/** `n` calls of a target that finished in the same minute, the first of which is 0, with the same status. */
export type MinuteCount = { target: string; minute: number; status: FinalStatus; n: number }
