/** How far the service's clock is ahead of the host's (seconds), measured with the `Date` headers of its answers. */
export type ClockSkew = {
  /** The latest answers that agree with each other, and when the first of them came (monotonic seconds). */
  readonly agreeing: readonly number[]
  readonly agreeingSince: number
  readonly all: readonly number[]
  /** Number of answers without a `Date`. */
  readonly undated: number
  /**
   * The skew to use. Until there is one nothing is counted, because it decides which calls were final before the target was
   * created.
   */
  readonly accepted: number | undefined
}

/** Answers that differ by no more show the same clock: a `Date` has whole seconds, and an answer takes time. */
const TOLERANCE_SECONDS = 5
/** So many consecutive answers must agree with each other if they do not agree with the host. */
export const AGREEING_ANSWERS = 5
/** After so many answers without agreement the median is used: each of many servers has its own clock. */
const MAX_ANSWERS = 20
/** A larger step is one wrong answer, unless others agree with it. */
const MAX_STEP_SECONDS = 3600
/** A service that is further ahead of the host is hardly right: calls of a day would be too old to count. */
const MAX_AHEAD_SECONDS = 86_400
/** So long answers must agree that it is. */
export const STABLE_SECONDS = 3600

export const UNKNOWN_SKEW: ClockSkew = { agreeing: [], agreeingSince: 0, all: [], undated: 0, accepted: undefined }

/** Whether a skew (seconds) is accepted only once answers have agreed with it for an hour. */
export function isFarAhead(skew: number): boolean {
  return skew > MAX_AHEAD_SECONDS
}

/**
 * Adds the skew that one more answer showed; undefined for an answer without a `Date`. If the clocks agree, both are right.
 * If not, either may be wrong, and the first answers may come from a server whose clock is not set yet: then five must
 * agree, for an hour if the service is more than a day ahead. A service that never sends a `Date` is assumed to have the host's clock.
 *
 * @param now monotonic seconds
 */
export function addSkew(before: ClockSkew, skew: number | undefined, now: number): ClockSkew {
  const { agreeing, all } = before
  if (skew === undefined) {
    const undated = before.undated + 1
    const isDateless = all.length === 0 && undated >= AGREEING_ANSWERS
    return { ...before, undated, accepted: isDateless ? 0 : medianOfMost(all, undated) }
  }
  const isClose = (other: number) => Math.abs(other - skew) <= TOLERANCE_SECONDS
  const isAgreeing = agreeing.length > 0 && agreeing.every(isClose)
  const next = isAgreeing ? [...agreeing, skew] : [skew]
  const agreeingSince = isAgreeing ? before.agreeingSince : now
  const seen = [...all, skew]
  const isStable = !isFarAhead(skew) || now - agreeingSince >= STABLE_SECONDS
  const agreed = isClose(0) ? skew : next.length >= AGREEING_ANSWERS && isStable ? median(next) : undefined
  return { ...before, agreeing: next, agreeingSince, all: seen, accepted: agreed ?? medianOfMost(seen, before.undated) }
}

/**
 * Checks the skew of an answer after one was accepted. If it differs by more than an hour, a clock was set or the answer is
 * wrong: it is accepted once as many answers agree with it as were needed at first.
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
  const before = known.accepted === undefined ? known : UNKNOWN_SKEW
  const clock = isCounted ? before : addSkew(before, skew, now)
  return { clock, isAccepted: clock.accepted !== undefined }
}

/** The median once there are enough answers, unless it is too far ahead; those without a `Date` count as the host's clock. */
function medianOfMost(skews: readonly number[], undated: number): number | undefined {
  if (skews.length + undated < MAX_ANSWERS) return undefined
  const most = median([...skews, ...Array.from({ length: undated }, () => 0)])
  return isFarAhead(most) ? undefined : most
}

function median(skews: readonly number[]): number {
  return skews.toSorted((a, b) => a - b)[skews.length >> 1]!
}
