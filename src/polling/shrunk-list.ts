import type { LedgerState } from '../ledger/state.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import type { Look } from './page-reader.ts'

/** Smaller lists are halved by chance. */
const FEWEST = 10
/** So many tracked calls are asked for. */
const ASKED = 5
/** Polls in a row that must find them unknown before the list is believed. */
export const POLLS_TO_BELIEVE = 2

/**
 * The newest tracked calls that a list lacks which is empty, or has halved since the last successful poll: an index that is
 * being rebuilt looks like that, and so does an app whose calls were deleted. None where the list is as it was, or has lost
 * its oldest calls alone.
 */
export function newestMissing({ size, end, now, oldest }: Look, { calls, facts }: LedgerState): TrackedCall[] {
  const before = facts.listing?.size
  if (end === undefined || size === undefined || before === undefined || before === 0) return []
  const hasShrunk = size === 0 || (before >= FEWEST && size < before / 2)
  if (!hasShrunk) return []
  return calls.latest(ASKED, now, (id) => !end.listed.has(id)).filter((call) => size === 0 || beganAt(call) > oldest)
}
