import type { KnownList } from '../../ledger/known-list.ts'
import type { Ended } from './read-pages.ts'
import { isCounted, type Reading } from './reading.ts'

const DAY = 86_400

type Times = { now: number; lookback: number; sweepInterval: number }

/**
 * Whether a sweep has read all that it had to: to the horizon of a list that is sorted by time, as many rows as the service counts, or
 * its last page. An empty, repeated or refused page may be a glitch and confirms nothing alone. Such a sweep is confirmed if the one
 * before it, less than a lookback ago, ended at the same row; or if it reads as many pages, and none was confirmed for a day, or for a
 * lookback if that is longer.
 *
 * @param before what the sweep before has returned as `unsure`
 * @param times in seconds; `now` is UNIX time
 */
export function confirm(
  reading: Reading,
  at: Ended['at'],
  before: KnownList['unsure'],
  times: Times,
): { isConfirmed: boolean; unsure: KnownList['unsure'] } {
  const { reachedHorizon, order, pages, rows } = reading
  const isRefused = at === 'refused'
  if ((reachedHorizon && !order.isBroken) || (!isRefused && isWhole(reading)))
    return { isConfirmed: true, unsure: undefined }
  const { now, lookback } = times
  const recent = isRecent(before, times) ? before : { since: now, pages: Infinity, last: undefined }
  const isSameEnd = !isRefused && rows.last === recent.last
  const since = isSameEnd ? now : Math.min(recent.since, now)
  const isAccepted = now - since >= Math.max(DAY, lookback) && pages.furthest + 1 >= recent.pages
  return {
    isConfirmed: isSameEnd || isAccepted,
    unsure: { at: now, since, pages: pages.furthest, last: rows.last },
  }
}

/** What was before a long outage says nothing about the list after it. */
function isRecent(
  before: KnownList['unsure'],
  { now, lookback, sweepInterval }: Times,
): before is NonNullable<typeof before> {
  return before !== undefined && Math.abs(now - before.at) < Math.max(lookback, 2 * sweepInterval)
}

/** The total may grow while pages are read. If there are more rows, it does not count this list, or is an old one. */
function isWhole({ rows: { seen }, pages: { total, last, furthest }, end }: Reading): boolean {
  if (total !== undefined) return isCounted(total.most) && total.first <= seen.size && seen.size <= total.most
  return last !== undefined && end === 'first' && furthest >= last
}
