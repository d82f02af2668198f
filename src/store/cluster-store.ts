import type { openPostgresStore } from './open-postgres.ts'
import { StoreError } from './store-error.ts'

/** A store that several daemons share. One daemon owns each target, and only the owner commits it. */
export type StoreWithCluster = Awaited<ReturnType<typeof openPostgresStore>>

/**
 * The membership of the daemons that share a store. A daemon is a member as long as it renews its lease, by the store's clock. It
 * is dead when another daemon finds that its lease has expired; then its targets are free. Every method rejects with a
 * {@link StoreError} while the store cannot be used.
 */
export type ClusterStore = StoreWithCluster['cluster']

export type RecentOverviews = {
  /** Pass it to the next call. */
  cursor: string
  /** By target. */
  overviews: ReadonlyMap<string, string>
}

export type Renewal = {
  /** All living members, including this one, in the order in which they joined. */
  members: readonly Member[]
  /** The id of this member. */
  self: string
  /** The id of the owner, by target. Only living members own targets. */
  owners: ReadonlyMap<string, string>
  /** How this member's settings differ from those that a living member declared last. */
  differing: OtherSettingsError | undefined
}

/** This daemon's settings differ from those that the member `from` declared. `how` says in which way. */
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
