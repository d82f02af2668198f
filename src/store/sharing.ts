import type { Settings } from './settings.ts'
import { StoreError, type Commit, type Store } from './store.ts'

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
   * @throws {OtherSettingsError} where the living members are to go by other settings
   */
  join: (name: string, settings: Settings, note: string) => Promise<void>
  /** For as long as this member lives, and no other one declares, all are to go by these settings: it has read them anew. */
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
  /** Until when requests are held back, by key, for those of these keys that are (UNIX seconds by the host's clock). */
  holds: (keys: readonly string[]) => Promise<ReadonlyMap<string, number>>
  /**
   * What was committed of targets after the sequence numbers that are known of them, in order for each target, by
   * whomever. `commit` is undefined where the log does not reach back so far: the target is to be opened anew.
   */
  missed: (known: ReadonlyMap<string, number>) => Promise<MissedCommit[]>
}

export type Beat = {
  /** Who lives, this one included, in the order in which they joined. */
  members: readonly Member[]
  /** By id, who of them this one is. */
  self: string
  /** The id of the member that owns a target, for each target that somebody alive owns. */
  owners: ReadonlyMap<string, string>
  /** That this one's settings are not those that a living member declared last, and how they differ. */
  differing: OtherSettingsError | undefined
}

/** Refused: the settings of this daemon are not those that the member `from` has declared; `how`, in words. */
export class OtherSettingsError extends StoreError {
  constructor(from: string, how: string) {
    super(
      'refused',
      `this daemon's configuration is not that of ${from}, which uses the same store: ${how}; give all daemons on it the ` +
        'same configuration, or stop the others first (one that died counts until its lease has ended)',
    )
  }
}

export type Member = { id: string; name: string; note: string }

export type MissedCommit = { target: string; commit: Pick<Commit, 'ledger' | 'alerts'> | undefined }
