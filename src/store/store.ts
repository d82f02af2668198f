import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { EpisodeNote } from '../alerts/episode.ts'
import type { AlertDelta } from '../alerts/evaluate.ts'
import type { Silence } from '../alerts/match.ts'
import type { EvaluationRecord } from '../alerts/trigger.ts'
import type { Notification } from '../alerts/notification.ts'
import type { CalendarPeriod } from '../clock/calendar.ts'
import type { FinalStatus } from '../ledger/call.ts'
import type { EarlierCalls, KeptFinishes, Period } from '../ledger/finished-calls.ts'
import type { SummedCalls } from '../ledger/summed-calls.ts'
import type { Delta, LedgerState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { ClusterStore } from './cluster-store.ts'
import type { Row, RowReader } from './sql.ts'
import type { WebhookStore } from './webhook-store.ts'

/**
 * Stores everything that is counted, on SQLite or PostgreSQL. Every method rejects with a {@link StoreError} if the store cannot be
 * used now. Then nothing has changed, unless the answer was lost with its connection: then the request may have been carried out.
 * Times of the service are by its clock, all others by the host's; all are UNIX seconds.
 */
export type Store = TargetStore &
  NotifiedStore &
  HistoryStore &
  RollupStore &
  RetentionStore &
  SilenceStore &
  EventStore &
  WebhookStore &
  RowReader & {
    /** The size of the store (bytes), with SQLite's log of writes next to the file. */
    size: () => Promise<number>
    close: () => Promise<void>
    /**
     * Checks the whole store for damage, in the background; absent if the database does so on its own.
     *
     * @throws {StoreError} refused: it is damaged
     */
    check?: (onTable: OnTable) => Promise<void>
    /** The membership of the daemons, if several share this store. */
    readonly cluster?: ClusterStore
  }

/** The changes that a command can make to a store while daemons use it. They see them when they next read the store. */
export type CommandStore = SilenceStore &
  WebhookStore &
  Pick<EventStore, 'events' | 'latestEvents'> &
  Pick<Store, 'close'>

/** The targets, and the commits of what their polls show. */
export type TargetStore = {
  /**
   * Reads the state of a target. Creates the target if it is new.
   *
   * @param created for a new target; undefined refuses one that the store does not have, as stale
   * @param longestWindow how far back finished calls are needed for windows (seconds)
   */
  openTarget: (identity: TargetIdentity, created: number | undefined, longestWindow: number) => Promise<StoredTarget>
  /**
   * Gives targets other names, with all that the store has of them. Does nothing for a name that the store does not have, or if it has the
   * other one already. Owners that do not know of it cannot commit any more.
   */
  renameTargets: (renames: readonly Rename[]) => Promise<void>
  /** Commits a delta whose sequence number follows the stored one. Any other delta is refused as stale. */
  commit: (target: string, commit: Commit) => Promise<void>
  /**
   * Deletes all rows of a target except its events and past alerts, and writes and logs the ends of its alerts. When it is
   * opened again, it starts from nothing.
   */
  resetTarget: (target: string, changes: readonly Notification[], logged?: NewEvents) => Promise<void>
  /** Finds targets that are not among these, and have alerts or are not marked as removed yet. Returns them with their alerts. */
  strayTargets: (targets: readonly string[]) => Promise<{ target: string; alerts: AlertInstance[] }[]>
  /**
   * Deletes all alerts of a target, and writes and logs their ends.
   *
   * @param removed when the target left the configuration, if it did. From then on its open calls are shown as lost, until it is
   * opened again
   */
  expireAlerts: (
    target: string,
    changes: readonly Notification[],
    logged?: NewEvents,
    removed?: number,
  ) => Promise<void>
}

/** What the receivers of notifications were told. */
export type NotifiedStore = {
  /** All rows, and what else is known of each receiver, by name. */
  notified: () => Promise<{ rows: NotifiedRow[]; receivers: ReadonlyMap<string, ReceiverState> }>
  /**
   * Writes what changed, all or nothing. If several daemons share the store, only the leader can.
   *
   * @throws {StoreError} stale: another daemon is the leader
   */
  writeNotified: (change: NotifiedChange) => Promise<void>
  /** Notes the delivery of alerts in their history. */
  noteEpisodes: (notes: readonly EpisodeNote[]) => Promise<void>
  /** Sets the configured receivers, and forgets what others were told. */
  setReceivers: (receivers: readonly string[]) => Promise<void>
}

/** What is known of calls that are over and of their minutes, and the pauses of rate limits. */
export type HistoryStore = {
  /** The calls of sessions that only the history still has, by session. */
  evictedCalls: (target: string, sessions: readonly string[]) => Promise<Map<string, TrackedCall[]>>
  /**
   * The calls of a target that finished in some periods, both ends included.
   *
   * @param lookback how far back the list shows calls (seconds): after a longer time without a poll, some were never seen
   */
  earlierCalls: (target: string, periods: readonly Period[], lookback: number) => Promise<EarlierCalls<KeptFinishes>>
  /** Adds up the calls of a target that finished in a period, from its beginning until before its end. */
  summedCalls: (target: string, period: Period) => Promise<SummedCalls>
  /**
   * Counts the calls of these targets that finished in each minute of a period, by the status with which they were counted. The first
   * minute is 0.
   */
  finishedPerMinute: (
    targets: readonly string[],
    from: number,
    minutes: number,
  ) => Promise<{ target: string; minute: number; status: FinalStatus; n: number }[]>
  /** Reads the open calls of targets, in no particular order. */
  openCalls: (targets: readonly string[]) => Promise<{ target: string; call: TrackedCall }[]>
  /** The end of the rate limit pause for a `rateLimitKey` (UNIX seconds by the host's clock). */
  pausedUntil: (key: string) => Promise<number | undefined>
  /**
   * Pauses requests with a key until a time. A longer pause stays, since the service may tell each daemon that uses the key
   * another time.
   */
  pauseUntil: (key: string, until: number) => Promise<void>
}

/** The sums of finished calls by quarters of an hour and longer times. */
export type RollupStore = {
  /**
   * The targets whose rollups of the oldest quarter of an hour are stale, after a position and until a time, and how often rollups have
   * been saved. Often there are none, for which no thread that reads the history need run.
   */
  staleRollups: (after: { quarter: number; target: number }, until: number) => Promise<{ saves: number; stale: Row[] }>
  /** Saves rollups, and marks them as current, unless their calls have changed meanwhile. */
  saveRollups: (update: RollupUpdate) => Promise<void>
}

/** The deletion of what has expired. */
export type RetentionStore = {
  /**
   * The newest end of a call by the service's clock, among the newest thousand of each target; undefined without one. Ends that only
   * callwatch noticed are left out, because they are by callwatch's clock.
   */
  newestEnd: () => Promise<number | undefined>
  /**
   * Deletes expired rows: evicted calls, past alerts, silences and evaluations from before `before`, older usage, and targets that
   * were removed before that time.
   */
  deleteExpired: (before: number) => Promise<void>
}

/** The silences. Commands write them, too, while the daemon runs. */
export type SilenceStore = {
  /** The silences that expire after a time. */
  silences: (now: number) => Promise<Silence[]>
  addSilence: (silence: Omit<Silence, 'id'>) => Promise<Silence>
  /**
   * Edits a silence that is active at `now`. Resolves to the edited one, to undefined if there is none, or to `changed` if it was
   * edited meanwhile.
   *
   * @param edits how often it was edited when the caller read it; undefined edits it however often that was
   */
  editSilence: (
    id: number,
    changes: Partial<Pick<Silence, 'match' | 'until' | 'reason'>>,
    now: number,
    edits?: number,
  ) => Promise<Silence | 'changed' | undefined>
  /** Ends a silence that is active at `now`. Resolves to whether there was one. */
  expireSilence: (id: number, now: number) => Promise<boolean>
}

/** The event log. */
export type EventStore = {
  /**
   * Reads commits of the log in order, from a position on (inclusive): as many as have at most `most` events together, but at
   * least one.
   */
  events: (position: number, most: number) => Promise<LoggedEvents[]>
  /** Reads the newest commits of the log in order: as many as have at most `most` events together, but at least one. */
  latestEvents: (most: number) => Promise<LoggedEvents[]>
  /**
   * Deletes commits from the start of the log up to the first one after `before`. Keeps the newest of them: a reader that has read it
   * has missed nothing.
   *
   * @param end keeps commits from this position on
   * @param latest one of this time or later (UNIX seconds) keeps no others
   */
  deleteEvents: (before: number, end?: number, latest?: number) => Promise<void>
  /** Erases the participants of all events in the log. */
  eraseParticipants: () => Promise<void>
}

/** The changes of a target by one observation or tick, committed in one transaction. */
export type Commit = {
  ledger: Delta
  alerts: AlertDelta
  /** The evaluation that caused the changes of alerts. */
  evaluated?: EvaluationRecord
  /** Undefined if there are no events. */
  events?: NewEvents | undefined
  /** The time without a successful poll that this commit ends, if it was long. */
  gap?: Period | undefined
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
  /** The name that the target had then, if it has another one now. */
  named?: string
  /** How many events the log has had, up to and including this commit. */
  total: number
}

/** The last committed state of a target. */
export type StoredTarget = { ledger: LedgerState; alerts: Map<string, AlertInstance> }

/** What a message told a receiver or, not accepted, may have told it. `id` is drawn; `data` is notifications/delivery/notified.ts Told. */
export type NotifiedRow = { id: string; receiver: string; accepted: boolean; data: string }

/** What is known of a receiver besides its messages. Times are UNIX seconds by the host's clock. */
export type ReceiverState = {
  /** When it was added: it is told nothing of before. */
  added: number
  /** Ends until then need no word any more. */
  cursor: number
  /** The end of the period of the latest report of each kind that it got. */
  reports: Readonly<Partial<Record<CalendarPeriod, number>>>
  /** The targets that were set up in the last days and of which it got the first report: since when each is counted (service's clock). */
  setUps: Readonly<Record<string, number>>
}

/** What changes of what receivers were told. */
export type NotifiedChange = {
  /** The ids of rows. */
  remove?: readonly string[]
  rows?: readonly NotifiedRow[]
  receiver?: { name: string; state: ReceiverState }
  notes?: readonly EpisodeNote[]
}

/** Identifies a target. A stored name with another fingerprint is refused. */
export type TargetIdentity = { name: string; fingerprint: string }

/** Another name of a target. */
export type Rename = { name: string; formerly: string }

/** Called before each table is read, with the number of tables (`3 of 24`). */
export type OnTable = (table: string, place: string) => void
