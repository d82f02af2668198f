/** What polls know about the list of a target. Committed with the counts. Times are UNIX seconds by the service's clock. */
export type KnownList = {
  /** The page at which new calls appear. */
  readonly end: 'first' | 'last'
  /**
   * Adjacent ids at the end where new calls appear, from that end inwards, as the last completed reading showed them. A poll
   * is successful once it has read from that end to where the list joins them.
   */
  readonly joint: readonly string[]
  /** Whether the joint is the whole list. */
  readonly isWhole: boolean
  /** How many rows below the newest known call other calls appeared, and when the last one did. Polls read this far. */
  readonly overlap?: { readonly rows: number; readonly at: number }
  /** How many readings found calls that appeared even further away, and when the last one did. */
  readonly elsewhere?: { readonly readings: number; readonly at: number }
  /** When the last reading of the whole list began that found all pages sorted by time (or one unsorted). */
  readonly order?: { readonly isByTime: boolean; readonly at: number }
  /**
   * If the last sweep did not prove that it has read all of the list: when that was, since when none was confirmed, the last page
   * with calls, and the last row.
   */
  readonly unsure?:
    | { readonly at: number; readonly since: number; readonly pages: number; readonly last: string }
    | undefined
}

/** How long findings about a list are valid, unless they are confirmed (seconds). */
const DAY = 86_400
/**
 * One reading may miss a row, which the next reading finds. Two readings that find rows elsewhere show that calls do appear
 * there.
 */
const READINGS_ELSEWHERE = 2

/** Whether calls appeared far from the end within a day before `now` (UNIX seconds). Then each poll reads the whole list. */
export function isUnordered(list: KnownList | undefined, now: number): boolean {
  const { readings = 0, at } = list?.elsewhere ?? {}
  return readings >= READINGS_ELSEWHERE && isWithin(DAY, at, now)
}

/** How many known rows a poll reads at least (`now` in UNIX seconds). */
export function overlapRows({ overlap }: KnownList, now: number): number {
  return isWithin(DAY, overlap?.at, now) ? overlap!.rows : 0
}

/**
 * Notes that a call appeared so many rows below the newest known one at `now` (UNIX seconds).
 *
 * @param most the largest overlap
 */
export function withLateRow(list: KnownList, rows: number, { now, most }: { now: number; most: number }): KnownList {
  if (rows <= most) return { ...list, overlap: { rows: Math.max(rows, overlapRows(list, now)), at: now } }
  const readings = isWithin(DAY, list.elsewhere?.at, now) ? list.elsewhere!.readings : 0
  return { ...list, elsewhere: { readings: readings + 1, at: now } }
}

/** Whether a reading of the whole list found every page sorted by time, and no later reading found otherwise. */
export function isOrderVerified(list: KnownList | undefined): boolean {
  return list?.order?.isByTime === true
}

/**
 * Like {@link isOrderVerified}, but only within a day, and within half the time from the horizon to `now` (UNIX seconds). A
 * sweep that ends at the horizon cannot notice a wrong order, and the calls that it misses must be found before the horizon
 * passes them.
 */
export function isOrderVerifiedRecently(
  list: KnownList | undefined,
  { now, horizon }: { now: number; horizon: number },
): boolean {
  return isOrderVerified(list) && isWithin(Math.min(DAY, (now - horizon) / 2), list?.order?.at, now)
}

/** In both directions: one answer with a `Date` in the future must not have an effect for years. */
function isWithin(seconds: number, time: number | undefined, now: number): boolean {
  return time !== undefined && Math.abs(now - time) < seconds
}
