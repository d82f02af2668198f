import type { openPostgresStore } from './open-postgres.ts'
import { StoreError } from './store-error.ts'

/** A store that several daemons use at the same time: each target is owned by one of them, and only that one commits it. */
export type StoreWithCluster = Awaited<ReturnType<typeof openPostgresStore>>

/**
 * What the daemons on one store know of each other. A daemon is a member for as long as it renews its lease, by the
 * store's clock; it is dead once another one finds that the lease has expired, and then its targets are free. Every method
 * rejects with a {@link StoreError} when the store cannot be used now.
 */
export type ClusterStore = StoreWithCluster['cluster']

export type RecentOverviews = {
  /** For the next call. */
  cursor: string
  /** By target. */
  overviews: ReadonlyMap<string, string>
}

export type Renewal = {
  /** The living members, this one included, in the order in which they joined. */
  members: readonly Member[]
  /** The id of this one. */
  self: string
  /** The id of the owner of each target that a living member owns. */
  owners: ReadonlyMap<string, string>
  /** How this one's settings differ from those that a living member declared last. */
  differing: OtherSettingsError | undefined
}

/** For as long as they differ: the settings of this daemon are not those that the member `from` has declared; `how`, in words. */
export class OtherSettingsError extends StoreError {
  constructor(from: string, how: string) {
    super(
      'unavailable',
      `this daemon's configuration is not that of ${from}, which uses the same store: ${how}; give all daemons on it the ` +
        'same configuration, or stop the others first (one that died counts until its lease has ended)',
    )
  }
}

export type Member = { id: string; name: string; status: string }
