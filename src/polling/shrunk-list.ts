import type { LedgerState } from '../ledger/state.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import type { Look } from './page-reader.ts'

/** Smaller lists are halved by chance. */
const FEWEST = 10
/** So many tracked calls are asked for, of the newest and of the oldest: Get Call may know a call later than the list. */
const ASKED = 3
/** Polls in a row that must find them unknown before the list is believed. */
export const POLLS_TO_BELIEVE = 2
/** No index is rebuilt for longer (seconds): then the list is believed, whatever Get Call says. */
export const LONGEST_REBUILD = 86_400

/** Whether a list of so many items is empty, or shorter by half than one of `before`. */
export function hasShrunk(size: number, before: number): boolean {
  return before > 0 && (size === 0 || (before >= FEWEST && size < before / 2))
}

/**
 * Tracked calls, the newest and the oldest, that a list lacks which is empty, or has halved since the last successful poll: an index that is
 * being rebuilt looks like that, and so does an app whose calls were deleted. None where the list is as it was, or has lost
 * its oldest calls alone.
 */
export function missingCalls({ size, end, now, oldest }: Look, { calls, facts }: LedgerState): TrackedCall[] {
  const before = facts.listing?.size
  if (end === undefined || size === undefined || before === undefined || !hasShrunk(size, before)) return []
  const isMissing = (id: string, time: number) => time <= now && (size === 0 || time > oldest) && !end.listed.has(id)
  return calls.outermost(ASKED, isMissing).filter((call) => size === 0 || beganAt(call) > oldest)
}
