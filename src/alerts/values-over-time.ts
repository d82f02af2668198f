import { isBeyond, type MessageValue } from './signal.ts'

/** A value, and when it was evaluated (UNIX seconds by the host's clock); null where there were too few calls. */
export type ValueAt = readonly [at: number, value: number | null]

/** The most values that an alert keeps. */
const MAX_VALUES = 100

/** The shortest step between two values (seconds). */
const MIN_STEP_SECONDS = 60

/**
 * Adds a value to an alert's values. Keeps the worst value of each minute, and makes the steps longer when there are too many
 * values. Sorted by time.
 */
export function addValue(
  values: readonly ValueAt[],
  added: ValueAt,
  breach: MessageValue['breach'],
): readonly ValueAt[] {
  const all = [...values, added]
  const times = all.map(([at]) => at)
  const [from, to] = [Math.min(...times), Math.max(...times)]
  const step = stepOf(from, to)
  const worst = (a: ValueAt, b: ValueAt) => {
    if (b[1] === null) return a
    return a[1] === null || isBeyond({ breach }, b[1], a[1]) ? b : a
  }
  const steps = Map.groupBy(all, ([at]) => Math.floor(at / step))
  return [...steps.values()].map((together) => together.reduce(worst)).toSorted(([a], [b]) => a - b)
}

/** The step of the values of a time (seconds). */
export function stepOf(from: number, to: number): number {
  let step = MIN_STEP_SECONDS
  while (Math.floor(to / step) - Math.floor(from / step) >= MAX_VALUES) step *= 2
  return step
}
