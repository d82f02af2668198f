/** The resolution of usage (seconds): the days of every time zone begin at a quarter of an hour. */
export const QUARTER_HOUR_SECONDS = 900
/** So long after its end a call counts as noticed late (seconds). */
export const LATE_SECONDS = 300
/** How long usage is kept (seconds): a month, the longest period of a rule, and a day. */
export const USAGE_RETENTION_SECONDS = 32 * 86_400

/** The beginning of a moment's quarter of an hour (UNIX seconds). */
export function quarterHourOf(time: number): number {
  return Math.floor(time / QUARTER_HOUR_SECONDS) * QUARTER_HOUR_SECONDS
}

/** Adds minutes to a quarter of an hour, in place, and drops quarters older than {@link USAGE_RETENTION_SECONDS}. */
export function addUsage(usage: Map<number, number>, quarterHour: number, minutes: number): void {
  const isNew = !usage.has(quarterHour)
  usage.set(quarterHour, (usage.get(quarterHour) ?? 0) + minutes)
  if (!isNew) return
  for (const old of usage.keys()) if (old < quarterHour - USAGE_RETENTION_SECONDS) usage.delete(old)
}

/** The minutes used from one moment to another (UNIX seconds), to the quarter of an hour. */
export function usedBetween(
  usage: Iterable<readonly [quarterHour: number, minutes: number]>,
  from: number,
  to: number,
): number {
  let sum = 0
  for (const [quarterHour, minutes] of usage) if (quarterHour >= from && quarterHour < to) sum += minutes
  return sum
}
