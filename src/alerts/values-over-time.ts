import type { Rule } from './rule.ts'
import { isBeyond } from './signal.ts'

/** A value, and when it was evaluated (UNIX seconds by the host's clock); null where there were too few calls. */
export type ValueAt = readonly [at: number, value: number | null]

/** As many are kept at most. */
const MAX_VALUES = 100

/** Seconds. */
const MIN_STEP_SECONDS = 60

/**
 * Adds a value to those of an alert, and keeps the worst one of each minute; of longer and longer steps, where these would
 * be too many. In the order of their times.
 */
export function addValue(values: readonly ValueAt[], added: ValueAt, breach: Rule['breach']): readonly ValueAt[] {
  const all = [...values, added]
  const times = all.map(([at]) => at)
  const [from, to] = [Math.min(...times), Math.max(...times)]
  let step = MIN_STEP_SECONDS
  while (Math.floor(to / step) - Math.floor(from / step) >= MAX_VALUES) step *= 2
  const worst = (a: ValueAt, b: ValueAt) => {
    if (b[1] === null) return a
    return a[1] === null || isBeyond({ breach }, b[1], a[1]) ? b : a
  }
  const steps = Map.groupBy(all, ([at]) => Math.floor(at / step))
  return [...steps.values()].map((together) => together.reduce(worst)).toSorted(([a], [b]) => a - b)
}
