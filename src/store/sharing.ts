import type { Commit, Store } from './store.ts'

/** A store that several daemons use at the same time: each target is owned by one of them, and only that one commits it. */
export type SharedStore = Store & { readonly sharing: Sharing }

/**
 * What the daemons on one store know of each other. A daemon is a member for as long as it renews its lease, by the
 * store's clock; it is dead once another one finds that the lease has ended, and then its targets are free. Every method
 * rejects with a {@link StoreError} when the store cannot be used now.
 */
export type Sharing = {
  /** For how long a member lives that is not heard of (seconds). */
  readonly lease: number
  /**
   * Becomes a member, anew after a lease was lost.
   *
   * @param name how others show it
   * @param settings what all members must agree in, by name
   * @param note what the others may show of it until its first beat (JSON)
   * @throws {StoreError} refused, saying which setting differs, where another member lives that goes by other ones
   */
  join: (name: string, settings: Settings, note: string) => Promise<void>
  /** From now on the members are to go by these settings: this one has read them anew. */
  declare: (settings: Settings) => Promise<void>
  /**
   * Renews the lease, and finds out what there is to know of the others.
   *
   * @param note what the others may show of this one (JSON)
   * @returns undefined where this member is dead: all that it owned may be owned by others
   */
  beat: (note: string) => Promise<Beat | undefined>
  /** Takes targets that nobody alive owns, so many at most, and returns those that were taken. */
  claim: (targets: readonly string[], most: number) => Promise<readonly string[]>
  /** Lets go of targets, so that others may take them at once. */
  release: (targets: readonly string[]) => Promise<void>
  /** Ends the membership, and lets go of everything. */
  leave: () => Promise<void>
  /**
   * What was committed of targets after the sequence numbers that are known of them, in order for each target, by
   * whomever. `commit` is undefined where the log does not reach back so far: the target is to be opened anew.
   */
  missed: (known: ReadonlyMap<string, number>) => Promise<MissedCommit[]>
}

/** Values of settings by name, such as `poll.lookback`; nothing secret in them. */
export type Settings = Readonly<Record<string, string>>

export type Beat = {
  /** Who lives, this one included, in the order in which they joined. */
  members: readonly Member[]
  /** By id, who of them this one is. */
  self: string
  /** The id of the member that owns a target, for each target that somebody alive owns. */
  owners: ReadonlyMap<string, string>
  /** The names of settings in which this one differs from what the members are to go by. */
  differing: readonly string[]
}

export type Member = { id: string; name: string; note: string }

export type MissedCommit = { target: string; commit: Pick<Commit, 'ledger' | 'alerts'> | undefined }
