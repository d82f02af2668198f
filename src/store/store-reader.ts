import type { EvaluationRecord } from '../alerts/trigger.ts'
import type { StoredBalance } from '../ledger/balance.ts'
import type { TrackedCalls } from '../ledger/tracked-calls.ts'
import type { SyncState } from '../ledger/state.ts'
import type { Finish, TrackedCall } from '../ledger/tracked-call.ts'
import type { RowReader } from './row-reader.ts'
import type { Store } from './store.ts'

/** Reads a store while daemons use it. Every method rejects with a {@link StoreError} when it cannot be read now. */
export type StoreReader = {
  /** How the store is called in a sentence: its file, or its database. */
  readonly place: string
  /** A target's sync state as last committed; undefined where the store does not know it. */
  target: (name: string) => Promise<{ fingerprint: string; sync: SyncState } | undefined>
  /** The tracked calls of a target, by id. */
  calls: (target: string) => Promise<TrackedCalls>
  /** One of them. */
  call: (target: string, id: string) => Promise<TrackedCall | undefined>
  /** What the counters and the calls of a target come to, as both were at one moment. */
  balance: (target: string) => Promise<StoredBalance>
  /** The rule evaluations since a moment (UNIX seconds), the oldest first. */
  evaluations: (target: string, since: number) => Promise<EvaluationRecord[]>
  /** How calls finished since a moment (UNIX seconds). */
  finishes: (target: string, since: number) => Promise<Finish[]>
  /** Until when requests with a key are paused by a rate limit (UNIX seconds by the host's clock). */
  pausedUntil: (key: string) => Promise<number | undefined>
  close: () => Promise<void>
} & Pick<Store, 'events' | 'latestEvents'> &
  RowReader
