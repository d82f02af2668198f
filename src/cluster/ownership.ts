import { NEVER, of, type Observable } from 'rxjs'

/** The time for which this daemon owns a target. */
export type Turn = {
  /** Emits once the target must be released: what is under way may end. Replays. */
  readonly draining$: Observable<unknown>
  /** Emits once another daemon may own it: nothing more may be asked or sent. Replays. */
  readonly aborted$: Observable<unknown>
  /** Notes that the target is in use; the function that is returned ends that. */
  readonly use: () => () => void
}

/** Which targets this daemon owns at the moment, and whether it is the leader, which sends notifications for all. */
export type Ownership = {
  /** Seconds between two renewals of the lease; 0 where there is none. */
  readonly beat: number
  /** The turn that a target has, and each that it will have. */
  readonly turn$: (target: string) => Observable<Turn>
  /** Whether the target may be polled at this very moment. */
  readonly owns: (target: string) => boolean
  /** Whether this daemon is the leader at this very moment. */
  readonly leads: () => boolean
  /** The same as it changes; the present state at once. */
  readonly leads$: Observable<boolean>
  /** Whether it was the leader as of its last answer: without the store, it still reports that the store is away. */
  readonly ledLast: () => boolean
  /** Why this daemon can own nothing, in a sentence. */
  readonly problem: () => string | undefined
  /** The name of the daemon that owns a target, where several share the store. */
  readonly ownerOf: (target: string) => string | undefined
  /** The owner's note on a target that another daemon owns. */
  readonly noteOf: (target: string) => unknown
}

const UNLIMITED: Turn = { draining$: NEVER, aborted$: NEVER, use: () => () => undefined }

/** The only daemon on its store. */
export const ALONE: Ownership = {
  beat: 0,
  turn$: () => of(UNLIMITED),
  owns: () => true,
  leads: () => true,
  leads$: of(true),
  ledLast: () => true,
  problem: () => undefined,
  ownerOf: () => undefined,
  noteOf: () => undefined,
}
