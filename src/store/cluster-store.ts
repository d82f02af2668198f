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

export type Renewal = NonNullable<Awaited<ReturnType<ClusterStore['renew']>>>

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

export type Member = Renewal['members'][number]
