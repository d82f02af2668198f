import { STABLE_SECONDS } from '../ledger/delta/compute-delta.ts'
import type { LedgerState } from '../ledger/state.ts'

/** How far the service's clock is ahead of the host's (seconds), measured with the `Date` headers of its answers. */
export type ClockSkew = {
  /** The latest skews that agree with each other. */
  readonly agreeing: readonly number[]
  /** The latest twenty skews, and when the first answer came (monotonic seconds). */
  readonly all: readonly number[]
  readonly since?: number
  /** If the service's clock is further ahead than this (seconds), its skew is accepted only after an hour. */
  readonly mostAhead: number
  /** The number of answers without a `Date` header. */
  readonly undated: number
  /**
   * The skew to use. Until there is one, nothing is counted: the skew decides which calls were final before the target was
   * created.
   */
  readonly accepted?: number | undefined
}

/** The skew of a target; in its first poll, that of its first page. */
export const skewInUse = ({ ledger, memory }: { ledger: Pick<LedgerState, 'sync'>; memory: { clock: ClockSkew } }) =>
  ledger.sync.clockSkew ?? memory.clock.accepted

/** Answers within this tolerance show the same clock: a `Date` has whole seconds, and an answer takes time. */
const TOLERANCE_SECONDS = 5
/** If the clocks differ, this many answers in a row must agree with each other. */
export const AGREEING_ANSWERS = 5
/** After this many answers without agreement, their median is used: each of many servers may have its own clock. */
const MAX_ANSWERS = 20
/** A larger step is a single wrong answer, unless other answers agree with it. */
export const MAX_STEP_SECONDS = 3600
/** The first skew determines `created` permanently, so a larger one must last for an hour. A later one may be up to a day. */
const [MAX_FIRST_AHEAD_SECONDS, MAX_STEP_AHEAD_SECONDS] = [3600 + TOLERANCE_SECONDS, 86_400]

export const UNKNOWN_SKEW: ClockSkew = {
  agreeing: [],
  all: [],
  undated: 0,
  mostAhead: MAX_FIRST_AHEAD_SECONDS,
}

/**
 * Adds the skew of one answer; undefined for an answer without a `Date`. If the clocks agree, both are right. If they differ,
 * either may be wrong, and the first answers may come from a server whose clock is not set yet. Then five answers must agree,
 * or twenty must have come. If the service is far ahead, this must last for an hour. If a service never sends a `Date`, it
 * counts as having the host's clock.
 *
 * @param now monotonic seconds
 */
export function addSkew(before: ClockSkew, skew: number | undefined, now: number): ClockSkew {
  const { agreeing, all, mostAhead, since = now } = before
  if (skew === undefined) {
    const undated = before.undated + 1
    const isDateless = all.length === 0 && undated >= AGREEING_ANSWERS
    return { ...before, undated, accepted: isDateless ? 0 : medianOfMost(all, undated) }
  }
  const isClose = (other: number) => Math.abs(other - skew) <= TOLERANCE_SECONDS
  const next = agreeing.every(isClose) ? [...agreeing, skew] : [skew]
  const seen = [...all, skew].slice(-MAX_ANSWERS)
  const agreed = isClose(0) ? skew : next.length >= AGREEING_ANSWERS ? median(next) : medianOfMost(seen, before.undated)
  const isBelieved = agreed === undefined || agreed <= mostAhead || now - since >= STABLE_SECONDS
  return { ...before, agreeing: next, all: seen, since, accepted: isBelieved ? agreed : undefined }
}

/**
 * Checks the skew of an answer after a skew was accepted. If the two differ by more than an hour, a clock was set, or the
 * answer is wrong. The new skew is accepted when as many answers agree with it as were needed for the first skew.
 *
 * @param inUse the skew in use (seconds)
 * @param isCounted whether an earlier answer of the same poll was already added
 * @param now monotonic seconds
 */
export function checkSkew(
  known: ClockSkew,
  skew: number,
  { inUse, isCounted, now }: { inUse: number; isCounted: boolean; now: number },
): { clock: ClockSkew; isAccepted: boolean } {
  if (Math.abs(skew - (known.accepted ?? inUse)) <= MAX_STEP_SECONDS)
    return { clock: known.accepted === undefined ? UNKNOWN_SKEW : known, isAccepted: true }
  const before = { ...(known.accepted === undefined ? known : UNKNOWN_SKEW), mostAhead: MAX_STEP_AHEAD_SECONDS }
  const clock = isCounted ? before : addSkew(before, skew, now)
  return { clock, isAccepted: clock.accepted !== undefined }
}

/** The median once there are enough answers. Answers without a `Date` count as having the host's clock. */
function medianOfMost(skews: readonly number[], undated: number): number | undefined {
  if (skews.length + undated < MAX_ANSWERS) return undefined
  return median([...skews, ...Array.from({ length: undated }, () => 0)])
}

function median(skews: readonly number[]): number {
  return skews.toSorted((a, b) => a - b)[skews.length >> 1]!
}
