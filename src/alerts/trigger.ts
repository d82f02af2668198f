import type { WindowEnd } from '../ledger/failure-ratio.ts'
import type { EarlierCalls, FinishedCalls } from '../ledger/finished-calls.ts'
import type { SummedCalls } from '../ledger/summed-calls.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { UsageFormula } from '../ledger/usage.ts'

/** What starts an evaluation: a successful poll, or a tick between polls, which knows only the age of the last poll. */
export type Trigger = Poll | Tick

/** A successful poll, after all its changes were counted. Times are UNIX seconds by the service's clock. */
export type Poll = WindowEnd & {
  kind: 'poll'
  /** The service did not show its whole list, so there may be unseen calls. */
  limited: boolean
  finished: FinishedCalls
  open: readonly TrackedCall[]
  /** The calls of the earlier windows that rules compare with; absent if they were not read. */
  earlier?: EarlierCalls | undefined
  /** The calls of the times whose share is usual (usual.ts). */
  usual: readonly SummedCalls[]
  /** When the target was created in the store: calls that had all finished before raise no alert. Since when all calls are counted. */
  created: number
  knownFrom: number
  /** Minutes counted since a time; NaN if they are not known. */
  usedSince: (time: number, of: UsageFormula) => number
}

export type Tick = {
  kind: 'tick'
  /** Seconds since the last successful poll. */
  pollAge: number
  /** Why the last poll failed, if known. */
  cause?: string | undefined
  /** When the last successful poll ended, by the host's clock (UNIX seconds); absent before the first one. */
  lastPoll?: number | undefined
  /** What happened in the last seconds; absent where it is not known. */
  recent?: Recent | undefined
}

/** What happened in the last seconds, at most {@link KEPT_SECONDS}. */
export type Recent = {
  /** The requests to the service, and those that it failed to answer. */
  requests: (seconds: number) => Share
}

/** How many there are in all, how many of them went wrong, and most of these with which code. */
export type Share = { all: number; wrong: number; code?: string | undefined }

/** How many of the requests of the last seconds failed; NaN of fewer than `least`, undefined if the trigger does not know it. */
export function wrongShare(trigger: Trigger, least: number, seconds: number) {
  if (trigger.kind === 'poll' || trigger.recent === undefined) return undefined
  const { all, wrong } = trigger.recent.requests(seconds)
  return all < least ? NaN : wrong / all
}

/** How far back requests are known. */
export const KEPT_SECONDS = 1800

/**
 * When rules were evaluated, by the host's clock (UNIX seconds), and on what besides the calls: enough to repeat the
 * evaluation over the same history. A tick is kept only if it changed something, or if the last poll is long ago.
 */
export type EvaluationRecord = { at: number } & (
  | (WindowEnd & Pick<Poll, 'kind' | 'limited'>)
  | Omit<Tick, 'recent' | 'lastPoll'>
)
