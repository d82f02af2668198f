import { sessionOf } from '../../ledger/identity.ts'
import type { LedgerState } from '../../ledger/state.ts'
import type { ServiceAnswer } from '../../ledger/observation.ts'
import { beganAt, type TrackedCall } from '../../ledger/tracked-call.ts'
import { forgetReadings } from './list-state.ts'
import type { ObserveOptions } from '../observe.ts'
import type { RunningPoll } from '../poll.ts'
import { shrunkList } from '../poll-problems.ts'

/** Shorter lists may halve by chance. */
const MIN_ITEMS = 10
/**
 * How many of the newest and of the oldest missing calls are requested. Get Call may learn of a new call later than the list.
 */
const REQUESTED = 3
/** In how many polls in a row Get Call must not know the missing calls before the list is accepted. */
const POLLS_TO_ACCEPT = 2
/** After a day the list is accepted, whatever Get Call answers. Rebuilding an index does not take that long. */
const MAX_REBUILD_SECONDS = 86_400

/**
 * The newest and the oldest tracked calls that are missing from a list that has become empty, or shows less than half of the
 * expected calls. Either the service is rebuilding its index, or calls were deleted. Empty if the list has not shrunk, or has
 * lost only its oldest calls.
 */
export function missingCalls({ ended, success }: RunningPoll, { calls, sync }: LedgerState): TrackedCall[] {
  if (success === undefined || ended === undefined) return []
  const { rows, began } = ended.reading
  const { seen, replaced } = rows
  const [from, horizon] = seen.size === 0 ? [-Infinity, -Infinity] : [rows.oldest, sync.horizon ?? -Infinity]
  // Calls that appeared since then do not show what is missing.
  const newest = Math.min(sync.lastSuccess ?? -Infinity, began?.serviceTime ?? Infinity)
  // A call with wrong times began no later than it was first seen. What was over before the horizon may be further down than the reading went.
  const isExpected = (call: TrackedCall) => {
    const began = Math.min(beganAt(call), call.firstSeen)
    return began > from && (call.finish?.known ?? began) > horizon
  }
  let [shown, missing] = [0, 0]
  const outermost = calls.outermost(REQUESTED, (id, time) => {
    if (time > newest || time <= from) return false
    const isShown = seen.has(id)
    if (isShown) shown += 1
    if (isShown || calls.phase(id) === 'lost') return false
    const call = calls.get(id)!
    if (replaced.has(sessionOf(call)) || !isExpected(call)) return false
    missing += 1
    return true
  })
  const hasShrunk = seen.size === 0 || (shown + missing >= MIN_ITEMS && shown < missing)
  return hasShrunk ? outermost : []
}

/**
 * Makes the poll unsuccessful if the list has shrunk, until Get Call does not know the missing calls either in two polls in a
 * row, or until the list has stayed shrunk for long.
 *
 * @param answers of Get Call, for the `missing` calls and others
 */
export function checkShrunkList(
  poll: RunningPoll,
  { memory: { list }, ledger, clock, settings: { lookback } }: ObserveOptions,
  answers: readonly ServiceAnswer[],
  missing: readonly TrackedCall[],
): void {
  // A poll that joined has not read the part where calls are missing.
  if (poll.success === undefined || poll.ended === undefined) return
  const unknown = answers.filter(({ notFound }) => missing.some(({ id }) => notFound.includes(id))).length
  const { shrunk } = list
  const now = clock.monotonic()
  shrunk.polls = missing.length > 0 && unknown === missing.length ? shrunk.polls + 1 : 0
  shrunk.since = missing.length === 0 ? undefined : (shrunk.since ?? now)
  const duration = now - (shrunk.since ?? Infinity)
  const isAccepted = shrunk.polls >= POLLS_TO_ACCEPT || duration >= Math.max(MAX_REBUILD_SECONDS, lookback)
  if (missing.length === 0 || isAccepted) return
  poll.problem ??= shrunkList(poll, shrunk.polls > 0)
  poll.success = undefined
  // The next poll must read the whole list again.
  forgetReadings(list, ledger.sync)
}
