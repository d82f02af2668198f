/**
 * What a call has in histograms: how long it lasted and rang, by classes of times, and at how many ends of a width it was in
 * progress: a call that began and finished within the same quarter has crossed none. An entry is the offset of its histogram and
 * the class, or that number.
 */
export const HISTOGRAMS = { duration: 0, answerDelay: 512, crossed: 1024 } as const
export type TimeHistogram = 'duration' | 'answerDelay'

/** Classes of times: one is e^(1/26) wide, so its middle is at most 2% off. */
const CLASSES_A_FACTOR = 26
const SHORTEST = 0.01
const SHORTEST_CLASS = 1 - Math.floor(Math.log(SHORTEST) * CLASSES_A_FACTOR)
const MAX_CLASS = HISTOGRAMS.answerDelay - 1

/** The class of a time. */
export function classOf(seconds: number): number {
  if (!(seconds > SHORTEST)) return 0
  return Math.min(MAX_CLASS, Math.floor(Math.log(seconds) * CLASSES_A_FACTOR) + SHORTEST_CLASS)
}

/** The time that represents those of a class (seconds). */
function timeOf(each: number): number {
  return each === 0 ? 0 : Number(Math.exp((each - SHORTEST_CLASS + 0.5) / CLASSES_A_FACTOR).toPrecision(4))
}

/** How many calls are in each class of all histograms, by entry. */
export type Entries = Float64Array

/** Percentiles of a time of calls (seconds), exact to 2%; null where no call has it. */
export type Percentiles = { p50: number | null; p95: number | null }

/** Of the calls that ended (seconds). */
export type Durations = Percentiles & { mean: number | null }

export function percentiles(histogram: TimeHistogram, entries: Entries | undefined): Percentiles {
  const [p50 = null, p95 = null] = entries === undefined ? [] : percentilesOf(histogram, entries, [0.5, 0.95])
  return { p50, p95 }
}

/** @param sum of their durations (seconds) */
export function durations(sum: number, entries: Entries | undefined): Durations {
  const calls = entries === undefined ? 0 : callsIn('duration', entries)
  return { mean: calls === 0 ? null : sum / calls, ...percentiles('duration', entries) }
}

/** How many calls have a duration, or an answer delay. */
function callsIn(histogram: TimeHistogram, entries: Entries): number {
  const first = HISTOGRAMS[histogram]
  let calls = 0
  for (let each = first; each <= first + MAX_CLASS; each++) calls += entries[each]!
  return calls
}

/** The times that these shares of the calls do not exceed (seconds), exact to 2%; null where there is no call. */
export function percentilesOf(
  histogram: TimeHistogram,
  entries: Entries,
  shares: readonly number[],
): (number | null)[] {
  const calls = callsIn(histogram, entries)
  const first = HISTOGRAMS[histogram]
  return shares.map((share) => {
    let left = Math.ceil(calls * share)
    if (left === 0) return null
    let each = -1
    while (left > 0) left -= entries[first + ++each]!
    return timeOf(each)
  })
}
