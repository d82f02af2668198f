/** The resolution of usage (seconds). In every time zone, a day begins at a quarter of an hour. */
export const QUARTER_HOUR_SECONDS = 900
/** A call that is noticed this long after its end counts as noticed late (seconds). */
export const LATE_SECONDS = 300
/** How long usage is kept (seconds): a month, the longest period of a rule, plus a day. */
export const USAGE_RETENTION_SECONDS = 32 * 86_400

/** The start of the quarter of an hour that contains a time (UNIX seconds). */
export function quarterHourOf(time: number): number {
  return Math.floor(time / QUARTER_HOUR_SECONDS) * QUARTER_HOUR_SECONDS
}

/** Adds minutes to a quarter of an hour, in place, and drops those older than {@link USAGE_RETENTION_SECONDS}. */
export function addUsage(usage: Map<number, number>, quarterHour: number, minutes: number): void {
  const isNew = !usage.has(quarterHour)
  usage.set(quarterHour, (usage.get(quarterHour) ?? 0) + minutes)
  if (!isNew) return
  for (const old of usage.keys()) if (old < quarterHour - USAGE_RETENTION_SECONDS) usage.delete(old)
}

/** Adds the minutes of several quarters of an hour, in place. */
export function addUsages(usage: Map<number, number>, added: ReadonlyMap<number, number>): void {
  for (const [quarterHour, minutes] of added) addUsage(usage, quarterHour, minutes)
}

/** How minutes are added up: over the participants of each call, or as its duration × who joined, which are its user minutes. */
export const USAGE_FORMULAS = ['participants', 'duration'] as const
export type UsageFormula = (typeof USAGE_FORMULAS)[number]

/** Minutes by quarter of an hour, by both formulas. */
export type Used = {
  readonly usage: ReadonlyMap<number, number>
  readonly userMinutes?: ReadonlyMap<number, number> | undefined
}

/** The minutes used since a time (UNIX seconds), to the quarter of an hour; NaN if they are not known. */
export function usedSince({ usage, userMinutes }: Used, time: number, of: UsageFormula): number {
  const minutes = of === 'duration' ? userMinutes : usage
  if (minutes === undefined) return NaN
  return minutes.entries().reduce((sum, [quarterHour, used]) => (quarterHour >= time ? sum + used : sum), 0)
}
