/** What polls know of a list, as committed with what they counted. Times are UNIX seconds by the service's clock. */
export type KnownList = {
  /** The page at which calls come in. */
  readonly end: 'first' | 'last'
  /**
   * Ids that stand next to each other there, from that end inwards, as the last reading that ended has shown them. A poll is
   * successful once it has read from the end to where it joins them.
   */
  readonly joint: readonly string[]
  /** The joint is the whole list. */
  readonly isWhole: boolean
  /** So many rows below the newest that was known calls came in, and when the last one did: so far polls read on. */
  readonly overlap?: { readonly rows: number; readonly at: number }
  /** How many readings found calls that came in further away than that, and when the last one did. */
  readonly elsewhere?: { readonly readings: number; readonly at: number }
  /** When the last reading of the whole list began that found every page in order of time, or one out of order. */
  readonly order?: { readonly isByTime: boolean; readonly at: number }
}

/** How long what was found out about a list holds, unless it is found again (seconds). */
const DAY = 86_400
/** One reading may miss a row, which the next one finds; two that find rows elsewhere show that they come in there. */
const READINGS_ELSEWHERE = 2

/** Whether calls came in far from the end within a day of `now` (UNIX seconds): then each poll reads the whole list. */
export function isUnordered(list: KnownList | undefined, now: number): boolean {
  const { readings = 0, at } = list?.elsewhere ?? {}
  return readings >= READINGS_ELSEWHERE && isWithin(DAY, at, now)
}

/** How many known rows polls read at least (UNIX seconds). */
export function overlapRows({ overlap }: KnownList, now: number): number {
  return isWithin(DAY, overlap?.at, now) ? overlap!.rows : 0
}

/** A call has come in so many rows below the newest known one at `now` (UNIX seconds). @param most the largest overlap */
export function withLateRow(list: KnownList, rows: number, { now, most }: { now: number; most: number }): KnownList {
  if (rows <= most) return { ...list, overlap: { rows: Math.max(rows, overlapRows(list, now)), at: now } }
  const readings = isWithin(DAY, list.elsewhere?.at, now) ? list.elsewhere!.readings : 0
  return { ...list, elsewhere: { readings: readings + 1, at: now } }
}

/** Whether a reading of the whole list found every page in order of time, and none since has found otherwise. */
export function isOrderVerified(list: KnownList | undefined): boolean {
  return list?.order?.isByTime === true
}

/**
 * The same, within a day or half the time from the horizon to `now` (UNIX seconds): a sweep that ends at the horizon does not
 * show that the order is wrong, and the calls that it hides must be found before the horizon passes them.
 */
export function isOrderVerifiedRecently(
  list: KnownList | undefined,
  { now, horizon }: { now: number; horizon: number },
): boolean {
  return isOrderVerified(list) && isWithin(Math.min(DAY, (now - horizon) / 2), list?.order?.at, now)
}

/** Either way: one answer with a `Date` in the future must not have effect for years. */
function isWithin(seconds: number, time: number | undefined, now: number): boolean {
  return time !== undefined && Math.abs(now - time) < seconds
}
