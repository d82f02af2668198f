import type { KnownList } from '../../ledger/known-list.ts'
import type { ReadingEnd } from './read-pages.ts'
import { isCount, type Reading } from './reading.ts'

const DAY = 86_400
/** For so long a cache may show one answer again. */
const CACHED_SECONDS = 60

type Times = { now: number; lookback: number; sweepInterval: number }

/**
 * Whether a sweep has read all that it had to: to the horizon of a list that is sorted by time, as many rows as the service counts, or
 * its last page. An empty, repeated or refused page may be a glitch and confirms nothing alone. Such a sweep is confirmed if one before
 * it, less than a lookback ago, ended at the same row, and no page amid the list was empty or refused; or if it reads as many pages, and
 * none was confirmed for a day, or for a lookback if that is longer. A sweep right after it, as after a restart, may read the same glitch
 * from a cache.
 *
 * @param before what the sweep before has returned as `unsure`
 * @param times in seconds; `now` is UNIX time
 */
export function confirmSweep(
  reading: Reading,
  at: ReadingEnd['at'],
  before: KnownList['unsure'],
  times: Times,
): { isConfirmed: boolean; unsure: KnownList['unsure'] } {
  const { reachedHorizon, order, pages } = reading
  // Behind an empty page are other rows.
  const hasGap = pages.empty.values().some((page) => page < pages.furthest)
  if ((reachedHorizon && !order.isBroken && !hasGap) || (at !== 'refused' && isWhole(reading)))
    return { isConfirmed: true, unsure: undefined }
  return confirmEarly(reading, hasGap ? 'refused' : at, recentOf(before, times), times)
}

/** The sweep before, unless it is so long ago that it says nothing about the list now. */
function recentOf(before: KnownList['unsure'], { now, lookback, sweepInterval }: Times): KnownList['unsure'] {
  const isRecent = before !== undefined && Math.abs(now - before.at) < Math.max(lookback, 2 * sweepInterval)
  return isRecent ? before : undefined
}

/** Whether a sweep that ended early is confirmed by a recent one. */
function confirmEarly(
  { pages, rows }: Reading,
  at: ReadingEnd['at'],
  recent: KnownList['unsure'],
  { now, lookback, sweepInterval }: Times,
): ReturnType<typeof confirmSweep> {
  const isSameEnd = recent !== undefined && at !== 'refused' && rows.last === recent.last
  if (isSameEnd && Math.abs(now - recent.at) < Math.min(CACHED_SECONDS, sweepInterval / 2))
    return { isConfirmed: false, unsure: recent }
  const since = isSameEnd ? now : Math.min(recent?.since ?? now, now)
  const isAccepted = now - since >= Math.max(DAY, lookback) && pages.furthest + 1 >= (recent?.pages ?? Infinity)
  return {
    isConfirmed: isSameEnd || isAccepted,
    unsure: { at: now, since, pages: pages.furthest, last: rows.last },
  }
}

/** The total may grow while pages are read. If there are more rows, it does not count this list, or is an old one. */
function isWhole({ rows: { seen }, pages: { total, last, furthest }, end }: Reading): boolean {
  if (total !== undefined) return isCount(total.most) && total.first <= seen.size && seen.size <= total.most
  return last !== undefined && end === 'first' && furthest >= last
}
