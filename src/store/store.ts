import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { AlertDelta } from '../alerts/evaluate.ts'
import type { Evaluated } from '../alerts/evaluated.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Silence } from '../alerts/silence.ts'
import type { CallStatus } from '../ledger/call.ts'
import type { FinishedCounts } from '../ledger/finished-calls.ts'
import type { Delta, LedgerState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { Sharing } from './sharing.ts'

/** What one look or tick changes of a target; kept whole or not at all. */
export type Commit = {
  ledger: Delta
  alerts: AlertDelta
  /** Those changes of alerts that are told, and to whom. */
  outgoing: readonly Addressed[]
  /** The evaluation that `alerts` came from. */
  evaluated?: Evaluated
}

/** A target as the store last committed it. */
export type StoredTarget = { ledger: LedgerState; alerts: Map<string, AlertInstance> }

/** A change of an alert, and the notifiers that are to tell it. An end is also told to whoever was told of the beginning. */
export type Addressed = { change: Notification; to: readonly string[] }

/** What waits to be told by one notifier. */
export type OutboxEntry = {
  id: number
  content: Outgoing
  /** An earlier attempt to deliver it has begun: it may have been told already. */
  claimed: boolean
}

/** A change of one alert, or a day's digest as its notifier will show it (JSON). */
export type Outgoing = Notification | { kind: 'digest'; digest: unknown }

/** What identifies a target beside its name; a name that stands for another one is refused. */
export type TargetIdentity = { name: string; fingerprint: string }

/**
 * Where all that is counted is kept. Every method rejects with a {@link StoreError} when the store cannot be used now;
 * what was not committed then changes nothing.
 */
export type Store = {
  /**
   * A target's state; sets the target up where it is new.
   *
   * @param created the host's clock (UNIX seconds), for a new target
   * @param keepFinished how far back finished calls are needed for windows (seconds)
   */
  openTarget: (identity: TargetIdentity, created: number, keepFinished: number) => Promise<StoredTarget>
  /** Removes all that is kept of a target, and puts out what is to be said of its alerts; opened again, it starts from nothing. */
  resetTarget: (name: string, outgoing: readonly Addressed[]) => Promise<void>
  /** Rows of a target's calls that were counted and evicted, by id: those of these ids that the history still has. */
  evictedCalls: (target: string, ids: readonly string[]) => Promise<Map<string, TrackedCall>>
  /** Commits a delta that follows the stored sequence number by one; any other is refused as stale. */
  commit: (target: string, commit: Commit) => Promise<void>
  /** All that waits for this notifier, the oldest first. */
  outbox: (notifier: string) => Promise<OutboxEntry[]>
  /**
   * Notes that entries are about to be delivered, or, where that failed for sure, that they were not. Where several daemons
   * share the store, only one of them delivers: of any other, the first is refused as stale, also without any entry.
   */
  claimOutbox: (ids: readonly number[], claimed: boolean) => Promise<void>
  /** Takes out what was delivered, or need not or cannot be. */
  removeFromOutbox: (ids: readonly number[]) => Promise<void>
  /** How much waits, by notifier. */
  countOutbox: () => Promise<ReadonlyMap<string, number>>
  /** Puts something out once for all time, however often it is asked for under that name. */
  putOutOnce: (name: string, content: Outgoing, notifiers: readonly string[]) => Promise<void>
  /** Alerts of targets other than these: what is left of targets that are watched no more. */
  strayAlerts: (targets: readonly string[]) => Promise<{ target: string; alerts: AlertInstance[] }[]>
  /** Removes all alerts of a target, and puts out what is to be said of that. */
  closeAlerts: (target: string, outgoing: readonly Addressed[]) => Promise<void>
  /** Silences that have not ended by then (UNIX seconds). */
  silences: (now: number) => Promise<Silence[]>
  addSilence: (silence: Omit<Silence, 'id'>) => Promise<Silence>
  /** Ends a silence at once; resolves with whether there was one. */
  endSilence: (id: number) => Promise<boolean>
  /** Until when requests with a key are held back (UNIX seconds by the host's clock). */
  heldUntil: (key: string) => Promise<number | undefined>
  /** Holds them back until then; where that is already so for longer, it stays. */
  hold: (key: string, until: number) => Promise<void>
  /** Calls that were counted as finished, newest first; of the same moment by target, then by id. */
  finishedCalls: (query: HistoryQuery) => Promise<{ target: string; call: TrackedCall }[]>
  /** How the calls of a target ended that finished from one moment to (but not at) another. */
  countFinished: (target: string, from: number, to: number) => Promise<FinishedCounts>
  /** Removes finished calls and evaluations from the history that are older than `before` (UNIX seconds). */
  trimHistory: (before: number) => Promise<void>
  close: () => Promise<void>
  /** What the daemons know of each other, where several use this store. */
  readonly sharing?: Sharing
}

/** Which of the finished calls: the newest of those that meet all that is given, so many at most. */
export type HistoryQuery = {
  /** UNIX seconds. */
  since: number
  limit: number
  target?: string | undefined
  /** How they were counted as finished. */
  status?: CallStatus | undefined
  /** Only those that come after this one in the order of the answer: newest first, then by target and id. */
  after?: HistoryPosition | undefined
}

/** Where a call stands in the history. */
export type HistoryPosition = {
  /** When it finished (UNIX seconds). */
  at: number
  target: string
  id: string
}

/** The store cannot be used now (busy, full), was written by another (stale), or cannot be used at all (refused). */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly kind: 'unavailable' | 'stale' | 'refused'

  constructor(kind: StoreError['kind'], message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}
