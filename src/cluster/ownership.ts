import { NEVER, of, type Observable } from 'rxjs'

/** This daemon's lease of a target: the time for which it owns the target. */
export type Lease = {
  /** Emits when the target must be released. Work in progress may end. Replays. */
  readonly draining$: Observable<unknown>
  /** Emits when another daemon may own the target. Nothing more may be requested or sent. Replays. */
  readonly aborted$: Observable<unknown>
  /** Whether `draining$` or `aborted$` has emitted. */
  readonly isDraining: () => boolean
  readonly isAborted: () => boolean
  /** Prevents the target from being released until the returned function is called. */
  readonly hold: () => () => void
}

/** Which targets this daemon owns, and whether it is the leader, which sends the notifications. */
export type Ownership = {
  /** Seconds between two renewals of the lease; 0 without a lease. */
  readonly renewalInterval: number
  /** The current lease of a target, and each later one. */
  readonly lease$: (target: string) => Observable<Lease>
  /** Whether the target may be polled now. */
  readonly owns: (target: string) => boolean
  /** Whether this daemon is the leader now. */
  readonly isLeader: () => boolean
  /**
   * Rejects with a StoreError unless this daemon is the leader by the store. The clocks of a virtual machine that was paused
   * do not show that the lease has expired.
   */
  readonly expectLeader: () => Promise<void>
  /**
   * Whether this daemon was the leader at the store's last answer. During an outage of the store, the last leader reports the
   * outage.
   */
  readonly wasLeader: () => boolean
  /** The id of this daemon's membership. It gets another one when it joins again, since another daemon may have been the leader. */
  readonly membership: () => string | undefined
  /** Why this daemon can own no targets, in a sentence. */
  readonly problem: () => string | undefined
  /** The name of the daemon that owns a target, if several daemons share the store. */
  readonly ownerOf: (target: string) => string | undefined
}

const UNLIMITED: Lease = {
  draining$: NEVER,
  aborted$: NEVER,
  isDraining: () => false,
  isAborted: () => false,
  hold: () => () => undefined,
}

/** For a daemon that does not share its store. */
export const ALONE: Ownership = {
  renewalInterval: 0,
  lease$: () => of(UNLIMITED),
  owns: () => true,
  isLeader: () => true,
  expectLeader: async () => undefined,
  wasLeader: () => true,
  membership: () => undefined,
  problem: () => undefined,
  ownerOf: () => undefined,
}
