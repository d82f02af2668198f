/** The resolution of usage (seconds): the days of every time zone begin at a quarter of an hour. */
const QUARTER = 900
/** How long usage is kept (seconds): a month, the longest period of a rule, and a day. */
export const USAGE_KEPT = 32 * 86_400

/** The beginning of a moment's quarter of an hour (UNIX seconds). */
export function quarterOf(time: number): number {
  return Math.floor(time / QUARTER) * QUARTER
}

/** Adds minutes to a quarter of an hour, in place, and drops quarters older than {@link USAGE_KEPT}. */
export function addUsage(usage: Map<number, number>, quarter: number, minutes: number): void {
  const isNew = !usage.has(quarter)
  usage.set(quarter, (usage.get(quarter) ?? 0) + minutes)
  if (!isNew) return
  for (const old of usage.keys()) if (old < quarter - USAGE_KEPT) usage.delete(old)
}

/** The minutes used from one moment to another (UNIX seconds), to the quarter of an hour. */
export function usedBetween(
  usage: Iterable<readonly [quarter: number, minutes: number]>,
  from: number,
  to: number,
): number {
  let sum = 0
  for (const [quarter, minutes] of usage) if (quarter >= from && quarter < to) sum += minutes
  return sum
}
