import { overviewsSince, type Cluster } from './cluster.ts'
import type { EventLog } from './events.ts'
import type { hintChannel } from './hint-channel.ts'
import type { Sql } from './sql.ts'
import type { Store, TargetIdentity } from './store.ts'
import { addTargets } from './targets.ts'

/** A store that several daemons share. One daemon owns each target, and only the owner commits it. */
export type StoreWithCluster = Store & { cluster: ClusterStore }

/**
 * The membership of the daemons that share a store. A daemon is a member as long as it renews its lease, by the store's clock. It
 * is dead when another daemon finds that its lease has expired; then its targets are free. Every method rejects with a
 * {@link StoreError} while the store cannot be used.
 */
export type ClusterStore = ReturnType<typeof clusterStoreOn> & {
  /** Assigns each committed event its position in the log. From then on readers see it. Only the leader calls this. */
  numberEvents: EventLog['number']
  /** Uses the user, the password and the TLS of this address of the same database for later connections. */
  setUrl: (url: string) => void
  hints: ReturnType<ReturnType<typeof hintChannel>['channelOn']>
}

/** The membership of this daemon, and what the members tell each other. */
export function clusterStoreOn(sql: Sql, cluster: Cluster) {
  return {
    ...cluster.methods,
    addTargets: (identities: readonly TargetIdentity[], created: number) => addTargets(sql, identities, created),
    /**
     * Publishes overviews by target. Each replaces the previous one of its target. Targets that this member does not own now are
     * skipped.
     */
    publish: async (overviews: ReadonlyMap<string, string>): Promise<void> =>
      void (await sql.batch([cluster.publish(overviews)])),
    overviewsSince: (cursor?: string) => overviewsSince(sql, cursor),
  }
}

export type Renewal = NonNullable<Awaited<ReturnType<ClusterStore['renew']>>>

export type Member = Renewal['members'][number]
