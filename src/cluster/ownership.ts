import { NEVER, of, type Observable } from 'rxjs'

/** The time for which a target is this daemon's to watch. */
export type Turn = {
  /** Emits once the target is to be let go: what is under way may come to its end. Replays. */
  readonly over$: Observable<unknown>
  /** Emits once it may be another daemon's: nothing more may be asked or told. Replays. */
  readonly lost$: Observable<unknown>
  /** Notes that the target is being watched; what is returned, that it no longer is. */
  readonly use: () => () => void
}

/** Which targets are this daemon's at the moment, and whether it is the one that tells. */
export type Ownership = {
  /** The turn that a target has, and each that it will have. */
  readonly turn$: (target: string) => Observable<Turn>
  /** Whether the target may be watched at this very moment. */
  readonly owns: (target: string) => boolean
  /** Whether this daemon is the one that sends, digests and tidies up, at this very moment. */
  readonly leads: () => boolean
  /** The same as it changes; the present state at once. */
  readonly leads$: Observable<boolean>
  /** Whether it was, as far as it has heard: who cannot reach the store can tell of that all the same. */
  readonly ledLast: () => boolean
  /** Why this daemon cannot take its part, in a sentence. */
  readonly problem: () => string | undefined
  /** Who owns a target, by name, where several daemons share the store. */
  readonly ownerOf: (target: string) => string | undefined
  /** What the owner says of a target that is another daemon's. */
  readonly noteOf: (target: string) => unknown
}

const FOR_GOOD: Turn = { over$: NEVER, lost$: NEVER, use: () => () => undefined }

/** The daemon that has its store for itself. */
export const ALONE: Ownership = {
  turn$: () => of(FOR_GOOD),
  owns: () => true,
  leads: () => true,
  leads$: of(true),
  ledLast: () => true,
  problem: () => undefined,
  ownerOf: () => undefined,
  noteOf: () => undefined,
}
