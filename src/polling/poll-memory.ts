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

/** How many pages a sweep has read, how many the service says that there are, and how long these take at most at this pace. */
export type SweepProgress = { pagesRead: number; pages: number | undefined; secondsLeft?: number | undefined }

/**
 * The progress of the running sweep; undefined if none runs. It may end before the last page, at the horizon.
 *
 * @param now monotonic seconds
 */
export function sweepProgress({ list }: Pick<PollMemory, 'list'>, now: number): SweepProgress | undefined {
  const reading = list.catchUp ?? (list.sweep.state === 'running' ? list.sweep.reading : undefined)
  if (reading === undefined) return undefined
  const { read, last } = reading.pages
  // A second reading only has the calls that appeared during the first one.
  if (reading.isSecond) return { pagesRead: reading.readBefore + read, pages: reading.readBefore + read }
  // A sweep may read a page twice while the list moves.
  const pages = read > 0 && last !== undefined ? Math.max(read, last) : undefined
  const secondsLeft = pages && Math.round(((now - reading.startedAt) / read) * (pages - read))
  return { pagesRead: read, pages, secondsLeft: secondsLeft || undefined }
}
