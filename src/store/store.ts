import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { AlertDelta } from '../alerts/evaluate.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Delta, LedgerState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

/** What one look or tick changes of a target; kept whole or not at all. */
export type Commit = {
  ledger: Delta
  alerts: AlertDelta
}

/** A target as the store last committed it. */
export type StoredTarget = { ledger: LedgerState; alerts: Map<string, AlertInstance> }

/** One notification that is still to be delivered by one notifier. */
export type OutboxEntry = { id: number; notifier: string; notification: Notification }

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
  /** Removes all that is kept of a target; opened again, it starts from nothing. */
  resetTarget: (name: string) => Promise<void>
  /** Commits a delta that follows the stored sequence number by one; any other is refused as stale. */
  commit: (target: string, commit: Commit) => Promise<void>
  /** The oldest notification that waits for this notifier. */
  nextOutboxEntry: (notifier: string) => Promise<OutboxEntry | undefined>
  /** Takes a delivered, or undeliverable, notification out. */
  removeOutboxEntry: (id: number) => Promise<void>
  /** Notifications that wait, by notifier. */
  countOutbox: () => Promise<ReadonlyMap<string, number>>
  /** Until when requests with a key are held back (UNIX seconds by the host's clock). */
  heldUntil: (key: string) => Promise<number | undefined>
  hold: (key: string, until: number) => Promise<void>
  /** Calls that were counted as finished, newest first. */
  finishedCalls: (query: HistoryQuery) => Promise<{ target: string; call: TrackedCall }[]>
  /** Removes finished calls from the history that finished before `before` (UNIX seconds). */
  trimHistory: (before: number) => Promise<void>
  close: () => Promise<void>
}

export type HistoryQuery = { /** UNIX seconds. */ since: number; limit: number }

/** The store cannot be used now (busy, full), was written by another (stale), or cannot be used at all (refused). */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly kind: 'unavailable' | 'stale' | 'refused'

  constructor(kind: StoreError['kind'], message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}
