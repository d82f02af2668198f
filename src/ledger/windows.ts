import { countWindow, EXPORTED_WINDOWS } from './failure-ratio.ts'
import type { FinishedCounts } from './finished-calls.ts'
import type { LedgerState, SyncState } from './state.ts'

/** How many participants the open calls have now. */
export function participantsInProgress({ open }: Pick<LedgerState, 'open'>): number {
  let joined = 0
  for (const call of open.values()) if (call.status === 'ongoing') joined += call.joined ?? 0
  return joined
}

/** The finished calls in each exported window at the last successful poll; empty before the first poll. */
export function windows({ finished, sync }: Pick<LedgerState, 'finished' | 'sync'>): WindowCounts {
  const known = windowCache.get(sync)
  if (known !== undefined) return known
  // Before a successful poll the windows end in 1970, and are empty.
  const { lastSuccess: now = 0, previousSuccess } = sync
  const counted = Object.entries(EXPORTED_WINDOWS).map(
    ([window, seconds]) => [window, countWindow(finished, seconds, { now, previousSuccess })] as const,
  )
  windowCache.set(sync, counted)
  return counted
}

type WindowCounts = (readonly [window: string, counts: FinishedCounts])[]
/** Each commit creates a new sync state, and nothing else changes the windows. */
const windowCache = new WeakMap<SyncState, WindowCounts>()
