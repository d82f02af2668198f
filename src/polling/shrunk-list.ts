import type { LedgerState } from '../ledger/state.ts'
import type { Answer } from '../ledger/observation.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import { ASKED_AGAIN, type ListMemory } from './list-memory.ts'
import type { Poll } from './poll.ts'
import { shrunkList } from './poll-problems.ts'

/** Smaller lists are halved by chance. */
const FEWEST = 10
/** So many tracked calls are asked for, of the newest and of the oldest: Get Call may know a call later than the list. */
const ASKED = 3
/** Polls in a row that must find them unknown before the list is believed. */
const POLLS_TO_BELIEVE = 2
/** No index is rebuilt for longer (seconds): then the list is believed, whatever Get Call says. */
const LONGEST_REBUILD = 86_400

/** Whether a list of so many items is empty, or shorter by half than one of `before`. */
export function hasShrunk(size: number, before: number): boolean {
  return before > 0 && (size === 0 || (before >= FEWEST && size < before / 2))
}

/**
 * Tracked calls, the newest and the oldest, that a list lacks which is empty, or has halved since the last successful poll: an index that is
 * being rebuilt looks like that, and so does an app whose calls were deleted. None where the list is as it was, or has lost
 * its oldest calls alone.
 */
export function missingCalls({ size, end, now, oldest }: Poll, { calls, sync }: LedgerState): TrackedCall[] {
  const before = sync.listFacts?.size
  if (end === undefined || size === undefined || before === undefined || !hasShrunk(size, before)) return []
  const isMissing = (id: string, time: number) => time <= now && (size === 0 || time > oldest) && !end.listed.has(id)
  return calls.outermost(ASKED, isMissing).filter((call) => size === 0 || beganAt(call) > oldest)
}

/**
 * A poll whose list has shrunk is not successful before the calls that the list lacks are unknown to Get Call as well, twice
 * in a row, or the list stays so for long.
 *
 * @param asked what Get Call said of calls, those that are `missing` among them
 * @param now monotonic seconds
 */
export function weighShrunkList(
  { poll, memory, now, lookback }: { poll: Poll; memory: ListMemory; now: number; lookback: number },
  asked: readonly Answer[],
  missing: readonly TrackedCall[],
): void {
  if (poll.end === undefined) return
  const unknown = asked.filter(({ notFound }) => missing.some(({ id }) => notFound.includes(id))).length
  memory.shrunk = missing.length > 0 && unknown === missing.length ? memory.shrunk + 1 : 0
  memory.shrunkSince = missing.length === 0 ? undefined : (memory.shrunkSince ?? now)
  const lasts = now - (memory.shrunkSince ?? Infinity)
  if (missing.length === 0 || memory.shrunk >= POLLS_TO_BELIEVE || lasts >= Math.max(LONGEST_REBUILD, lookback)) return
  poll.problem ??= shrunkList(poll, memory.shrunk > 0)
  poll.end = undefined
  // The next poll must see the list as a whole as well.
  memory.unexplained = Math.max(memory.unexplained, ASKED_AGAIN)
}
