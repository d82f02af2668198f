/** How far the service's clock is ahead of the host's (seconds), as far as its answers have told. */
export type ClockDifference = {
  /** Those of the latest answers that agree with each other. */
  readonly agreeing: readonly number[]
  readonly all: readonly number[]
  /** Answers that showed no clock. */
  readonly undated: number
  /** The one to go by; until there is one nothing is counted, since which calls were over before the set-up depends on it. */
  readonly settled: number | undefined
}

/** Answers that agree within so many seconds mean the same clock: a `Date` has whole seconds, and an answer takes its time. */
const TOLERANCE = 5
/** So many consecutive answers must agree with each other where they do not agree with the host. */
export const AGREEING = 5
/** After so many answers without agreement the one in the middle is taken: each of many servers has a clock of its own. */
const MOST = 20

/** A larger step against the host's clock (seconds) is a mistake of one answer unless others agree with it. */
const MOST_STEP = 3600

export const UNSETTLED: ClockDifference = { agreeing: [], all: [], undated: 0, settled: undefined }

/**
 * Takes the difference that one more answer showed, undefined where it showed no clock. Two clocks that agree are both
 * right. Where they do not, either may be wrong, and the first answers may come from a server whose clock is not set yet:
 * then five of them must agree. A service that shows no clock at all is taken to have the host's.
 */
export function settleClock(known: ClockDifference, difference: number | undefined): ClockDifference {
  const { agreeing, all } = known
  if (difference === undefined) {
    const undated = known.undated + 1
    const isDateless = all.length === 0 && undated >= AGREEING
    return { ...known, undated, settled: isDateless ? 0 : middleOfMost(all, undated) }
  }
  const isClose = (other: number) => Math.abs(other - difference) <= TOLERANCE
  const next = agreeing.every(isClose) ? [...agreeing, difference] : [difference]
  const seen = [...all, difference]
  const settled = isClose(0) ? difference : next.length >= AGREEING ? middleOf(next) : undefined
  return { ...known, agreeing: next, all: seen, settled: settled ?? middleOfMost(seen, known.undated) }
}

/**
 * Takes the difference that an answer showed after one was settled. Where it is another one by more than an hour, one of
 * the clocks has made a step, or this answer is wrong: it is not believed before as many agree with it as at first.
 *
 * @param skew the settled difference (seconds)
 * @param isCounted whether an answer of the same poll was taken into account before
 */
export function followClock(
  known: ClockDifference,
  difference: number,
  { skew, isCounted }: { skew: number; isCounted: boolean },
): { clock: ClockDifference; isBelieved: boolean } {
  if (Math.abs(difference - (known.settled ?? skew)) <= MOST_STEP)
    return { clock: known.settled === undefined ? UNSETTLED : known, isBelieved: true }
  const before = known.settled === undefined ? known : UNSETTLED
  const clock = isCounted ? before : settleClock(before, difference)
  return { clock, isBelieved: clock.settled !== undefined }
}

/** After so many answers the one in the middle; those that showed no clock speak for the host's. */
function middleOfMost(differences: readonly number[], undated: number): number | undefined {
  if (differences.length + undated < MOST) return undefined
  return middleOf([...differences, ...Array.from({ length: undated }, () => 0)])
}

function middleOf(differences: readonly number[]): number {
  return differences.toSorted((a, b) => a - b)[differences.length >> 1]!
}
