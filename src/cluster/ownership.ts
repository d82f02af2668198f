import { NEVER, of, type Observable } from 'rxjs'

/** This daemon's lease of a target: the time for which it owns the target. */
export type Lease = {
  /** Emits once the target must be released: what is under way may end. Replays. */
  readonly draining$: Observable<unknown>
  /** Emits once another daemon may own it: nothing more may be asked or sent. Replays. */
  readonly aborted$: Observable<unknown>
  /** The same at this very moment. */
  readonly isDraining: () => boolean
  readonly isAborted: () => boolean
  /** Keeps the target from being released until the returned function is called. */
  readonly hold: () => () => void
}

/** Which targets this daemon owns at the moment, and whether it is the leader, which sends notifications for all. */
export type Ownership = {
  /** Seconds between two renewals of the lease; 0 where there is none. */
  readonly renewalInterval: number
  /** The lease that a target has, and each that it will have. */
  readonly lease$: (target: string) => Observable<Lease>
  /** Whether the target may be polled at this very moment. */
  readonly owns: (target: string) => boolean
  /** Whether this daemon is the leader at this very moment. */
  readonly isLeader: () => boolean
  /** Whether it was the leader as of its last answer: without the store, it still reports that the store is away. */
  readonly wasLeader: () => boolean
  /** Why this daemon can own nothing, in a sentence. */
  readonly problem: () => string | undefined
  /** The name of the daemon that owns a target, where several share the store. */
  readonly ownerOf: (target: string) => string | undefined
}

const UNLIMITED: Lease = {
  draining$: NEVER,
  aborted$: NEVER,
  isDraining: () => false,
  isAborted: () => false,
  hold: () => () => undefined,
}

/** The only daemon on its store. */
export const ALONE: Ownership = {
  renewalInterval: 0,
  lease$: () => of(UNLIMITED),
  owns: () => true,
  isLeader: () => true,
  wasLeader: () => true,
  problem: () => undefined,
  ownerOf: () => undefined,
}
