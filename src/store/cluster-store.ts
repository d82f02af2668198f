import type { Settings } from './settings.ts'
import { StoreError } from './store-error.ts'
import type { Store, TargetIdentity } from './store.ts'

/** A store that several daemons use at the same time: each target is owned by one of them, and only that one commits it. */
export type StoreWithCluster = Store & { readonly cluster: ClusterStore }

/**
 * What the daemons on one store know of each other. A daemon is a member for as long as it renews its lease, by the
 * store's clock; it is dead once another one finds that the lease has expired, and then its targets are free. Every method
 * rejects with a {@link StoreError} when the store cannot be used now.
 */
export type ClusterStore = {
  /** How long a member lives without renewing its lease (seconds). */
  readonly lease: number
  /**
   * Becomes a member, again after a lease was lost.
   *
   * @param name how others show it
   * @param settings what all members must agree in, by name
   * @param status what the others may show of it until its first renewal (JSON)
   * @throws {OtherSettingsError} where the living members must use other settings
   */
  join: (name: string, settings: Settings, status: string) => Promise<void>
  /** Declares reloaded settings: all members must use them while this one lives and no other one declares. */
  declare: (settings: Settings) => Promise<void>
  /**
   * Renews the lease, and reads what the others show of themselves.
   *
   * @param status what the others may show of this one (JSON)
   * @returns undefined where this member is dead: all that it owned may be owned by others
   */
  renew: (status: string) => Promise<Renewal | undefined>
  /** Acquires targets that no living member owns, `most` at most, and returns those that were acquired. */
  acquire: (targets: readonly string[], most: number) => Promise<readonly string[]>
  /** Releases targets, so that others may acquire them at once. */
  release: (targets: readonly string[]) => Promise<void>
  /** Ends the membership, and releases every target. */
  leave: () => Promise<void>
  /** Until when requests are paused by a rate limit, for those of these keys that are (UNIX seconds by the host's clock). */
  pauses: (keys: readonly string[]) => Promise<ReadonlyMap<string, number>>
  /**
   * Sets up all of these targets that are new, in one transaction.
   *
   * @param created the host's clock (UNIX seconds), for new targets
   * @throws {StoreError} refused: one of them is stored with another fingerprint; none is added then
   */
  addTargets: (identities: readonly TargetIdentity[], created: number) => Promise<void>
  /**
   * Publishes overviews by target, each of which replaces the previous one. Those of targets that this member does not own
   * now are left out.
   */
  publish: (overviews: ReadonlyMap<string, string>) => Promise<void>
  /** Gives each event that was committed its position in the log: from then on it is read. For the leader. */
  numberEvents: () => Promise<void>
  /**
   * What became visible since an earlier call, whichever transaction was first. What was seen before may be repeated.
   *
   * @param cursor of that call; undefined for all overviews
   */
  overviewsSince: (cursor?: string) => Promise<RecentOverviews>
}

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
