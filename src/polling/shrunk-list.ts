import type { LedgerState } from '../ledger/state.ts'
import type { ServiceAnswer } from '../ledger/observation.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import { UNEXPLAINED_POLLS, type ListMemory } from './list-memory.ts'
import type { RunningPoll } from './poll.ts'
import { shrunkList } from './poll-problems.ts'

/** Shorter lists are halved by chance. */
const MIN_ITEMS = 10
/** How many of the newest and of the oldest missing calls are requested: Get Call may know a new call later than the list. */
const REQUESTED = 3
/** Polls in a row in which Get Call must not know them, until the list is accepted. */
const POLLS_TO_ACCEPT = 2
/** After a day the list is accepted, whatever Get Call says: rebuilding an index does not take so long. */
const MAX_REBUILD_SECONDS = 86_400

/** Whether a list has become empty, or less than half as long as before. */
export function hasShrunk(size: number, before: number): boolean {
  return before > 0 && (size === 0 || (before >= MIN_ITEMS && size < before / 2))
}

/**
 * The newest and the oldest tracked calls that are missing in a list which has shrunk since the last successful poll. Either
 * its index is being rebuilt, or calls were deleted. Empty if the list has not shrunk, or lost only its oldest calls.
 */
export function missingCalls(poll: RunningPoll, { calls, sync }: LedgerState): TrackedCall[] {
  const { size, success, invalidKeys, serviceTime, oldest } = poll
  const before = sync.listTraits?.size
  if (success === undefined || size === undefined || before === undefined || !hasShrunk(size, before)) return []
  const isShown = (id: string) => success.listed.has(id) || invalidKeys.has(id)
  // A call with wrong times began when it was first seen, at the latest.
  const beganAfterOldest = (call: TrackedCall) => Math.min(beganAt(call), call.firstSeen) > oldest
  return calls.outermost(
    REQUESTED,
    (id, time) =>
      time <= serviceTime && !isShown(id) && (size === 0 || (time > oldest && beganAfterOldest(calls.get(id)!))),
  )
}

/**
 * Makes a poll whose list has shrunk unsuccessful, until Get Call does not know the missing calls either, in two polls in a
 * row, or the list has stayed like this for long.
 *
 * @param answers what Get Call said, of the `missing` calls and others
 * @param now monotonic seconds
 */
export function checkShrunkList(
  { poll, memory, now, lookback }: { poll: RunningPoll; memory: ListMemory; now: number; lookback: number },
  answers: readonly ServiceAnswer[],
  missing: readonly TrackedCall[],
): void {
  if (poll.success === undefined) return
  const unknown = answers.filter(({ notFound }) => missing.some(({ id }) => notFound.includes(id))).length
  memory.shrunkPolls = missing.length > 0 && unknown === missing.length ? memory.shrunkPolls + 1 : 0
  memory.shrunkSince = missing.length === 0 ? undefined : (memory.shrunkSince ?? now)
  const duration = now - (memory.shrunkSince ?? Infinity)
  const isAccepted = memory.shrunkPolls >= POLLS_TO_ACCEPT || duration >= Math.max(MAX_REBUILD_SECONDS, lookback)
  if (missing.length === 0 || isAccepted) return
  poll.problem ??= shrunkList(poll, memory.shrunkPolls > 0)
  poll.success = undefined
  // The next poll must read the whole list as well.
  memory.unexplainedPolls = Math.max(memory.unexplainedPolls, UNEXPLAINED_POLLS)
}
