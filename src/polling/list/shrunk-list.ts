import type { LedgerState } from '../../ledger/state.ts'
import type { ServiceAnswer } from '../../ledger/observation.ts'
import { beganAt, type TrackedCall } from '../../ledger/tracked-call.ts'
import { forgetReadings, type ListMemory } from './list-state.ts'
import type { RunningPoll } from '../poll.ts'
import { shrunkList } from '../poll-problems.ts'

/** Shorter lists are halved by chance. */
const MIN_ITEMS = 10
/** How many of the newest and of the oldest missing calls are requested: Get Call may know a new call later than the list. */
const REQUESTED = 3
/** Polls in a row in which Get Call must not know them, until the list is accepted. */
const POLLS_TO_ACCEPT = 2
/** After a day the list is accepted, whatever Get Call says: rebuilding an index does not take so long. */
const MAX_REBUILD_SECONDS = 86_400

/**
 * The newest and the oldest tracked calls that are missing in a list which has become empty, or shows less than half of the calls that it
 * should. Either its index is being rebuilt, or calls were deleted. Empty if the list has not shrunk, or lost only its oldest calls.
 */
export function missingCalls({ ended, success }: RunningPoll, { calls, sync }: LedgerState): TrackedCall[] {
  if (success === undefined || ended === undefined) return []
  const { rows, began } = ended.reading
  const { seen, oldest } = rows
  // What has come in since then shows nothing of what is missing.
  const newest = Math.min(sync.lastSuccess ?? -Infinity, began?.serviceTime ?? Infinity)
  // A call with wrong times began when it was first seen, at the latest.
  const beganAfterOldest = (call: TrackedCall) => Math.min(beganAt(call), call.firstSeen) > oldest
  let [shown, missing] = [0, 0]
  const outermost = calls.outermost(REQUESTED, (id, time) => {
    if (time > newest || (seen.size > 0 && time <= oldest)) return false
    if (seen.has(id)) shown += 1
    if (seen.has(id) || calls.phase(id) === 'lost' || (seen.size > 0 && !beganAfterOldest(calls.get(id)!))) return false
    missing += 1
    return true
  })
  const hasShrunk = seen.size === 0 || (shown + missing >= MIN_ITEMS && shown < missing)
  return hasShrunk ? outermost : []
}

type ShrunkListOptions = {
  poll: RunningPoll
  memory: ListMemory
  ledger: Pick<LedgerState, 'sync'>
  /** Monotonic seconds. */
  now: number
  lookback: number
}

/**
 * Makes a poll whose list has shrunk unsuccessful, until Get Call does not know the missing calls either, in two polls in a
 * row, or the list has stayed like this for long.
 *
 * @param answers what Get Call said, of the `missing` calls and others
 */
export function checkShrunkList(
  { poll, memory, ledger, now, lookback }: ShrunkListOptions,
  answers: readonly ServiceAnswer[],
  missing: readonly TrackedCall[],
): void {
  // A poll that joined has not read what is missing.
  if (poll.success === undefined || poll.ended === undefined) return
  const unknown = answers.filter(({ notFound }) => missing.some(({ id }) => notFound.includes(id))).length
  const { shrunk } = memory
  shrunk.polls = missing.length > 0 && unknown === missing.length ? shrunk.polls + 1 : 0
  shrunk.since = missing.length === 0 ? undefined : (shrunk.since ?? now)
  const duration = now - (shrunk.since ?? Infinity)
  const isAccepted = shrunk.polls >= POLLS_TO_ACCEPT || duration >= Math.max(MAX_REBUILD_SECONDS, lookback)
  if (missing.length === 0 || isAccepted) return
  poll.problem ??= shrunkList(poll, shrunk.polls > 0)
  poll.success = undefined
  // The next poll must read the whole list as well.
  forgetReadings(memory, ledger.sync)
}
