import type { Reading } from './list/reading.ts'
import type { SyncState } from '../ledger/state.ts'
import { callIdentities } from './call-identities.ts'
import { UNKNOWN_SKEW } from './clock-skew.ts'
import { newListMemory } from './list/list-state.ts'
import { shownOpen } from './shown-open.ts'
import { statusRegressions } from './status-regressions.ts'

/** What the polls of a target remember from one poll to the next, besides what is committed. Changed in place. */
export type PollMemory = ReturnType<typeof newPollMemory>

/**
 * The memory of a target before its first poll.
 *
 * @param sweptAt when the last complete sweep began (monotonic seconds)
 * @param shown what answers showed before the target was loaded again
 */
export function newPollMemory(sync: SyncState, sweptAt: number | undefined, shown = shownOpen()) {
  return {
    list: newListMemory(sync, sweptAt),
    requestedAt: new Map<string, number>(),
    /** Open calls of whose session Get Call showed others alone, the last time that it showed any. */
    replaced: new Set<string>(),
    regressions: statusRegressions(),
    identities: callIdentities(),
    shownOpen: shown,
    clock: UNKNOWN_SKEW,
    /** A time of a call that has none which can be read, if this poll or the last one has read such a call. */
    unreadTime: undefined as string | undefined,
  }
}

/**
 * How many pages a running sweep has read, about how many it reads, if that is known, and how long the rest takes at this pace.
 */
export type SweepProgress = { pagesRead: number; pages: number | undefined; secondsLeft?: number | undefined }

/**
 * The progress of the running sweep; undefined if none runs.
 *
 * @param now monotonic seconds
 * @param times by the service's clock (UNIX seconds): now, and the horizon
 */
export function sweepProgress(
  { list }: PollMemory,
  now: number,
  times: { now: number; horizon: number },
): SweepProgress | undefined {
  const reading = list.catchUp ?? (list.sweep.state === 'running' ? list.sweep.reading : undefined)
  if (reading === undefined) return undefined
  const { read: pagesRead, last = Infinity } = reading.pages
  const estimated = pagesRead / shareRead(reading, list.list?.order?.isByTime !== false, times)
  // A sweep may read a page twice while the list moves.
  const expected = Math.max(pagesRead, Math.min(last, Math.ceil(estimated)))
  const pages = pagesRead > 0 && Number.isFinite(expected) ? expected : undefined
  const secondsLeft = pages && ((now - reading.startedAt) / pagesRead) * (pages - pagesRead)
  return { pagesRead, pages, secondsLeft: secondsLeft && Math.round(secondsLeft) }
}

/**
 * How much of the lookback a reading has read, if the list is sorted, and so read to the horizon only; else 0. A sorted list has about
 * as many calls at one time as at another.
 */
function shareRead(
  { goal, order, rows }: Reading,
  mayBeSorted: boolean,
  times: { now: number; horizon: number },
): number {
  const isSorted = mayBeSorted && !order.isBroken && rows.oldest > times.horizon
  return goal === 'end' || !isSorted ? 0 : Math.max(0, (times.now - rows.oldest) / (times.now - times.horizon))
}
