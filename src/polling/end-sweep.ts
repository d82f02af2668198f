import type { ListSnapshot } from '../ledger/state.ts'
import type { PollSuccess } from '../ledger/observation.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { oldestEndIds, readOldestEnd } from './oldest-end.ts'
import { completeSweep, verifyOrder, refuteOrder } from './list-memory.ts'
import type { ListPage, PollContext } from './poll-context.ts'
import type { Slice } from './read-slice.ts'
import {
  addToSweep,
  continuePastTotal,
  continueWithoutTotal,
  isOutOfOrder,
  listedIds,
  missingItems,
  type Sweep,
} from './sweep.ts'
import { findCap } from './total-cap.ts'

/** Sweeps that find misplaced new calls, after which the order is refuted. */
const MAX_MISPLACED_SWEEPS = 3

/**
 * Ends a sweep after its last slice.
 *
 * @returns whether it has ended; false if there is more to read
 */
export async function* endSweep(
  context: PollContext,
  sweep: Sweep,
  slice: Exclude<Slice, { result: 'interrupted' } | { result: 'horizon' }>,
): AsyncGenerator<CallPage, boolean> {
  if (slice.result === 'complete') return yield* endComplete(context, sweep, slice.last)
  if (slice.result === 'incomplete') return yield* endIncomplete(context, sweep)
  if (slice.result === 'refused') yield* endRefused(context, sweep, slice.error)
  else yield* endTruncated(context, sweep)
  return true
}

/**
 * Ends a sweep that has seen as many items as the list has. This verifies the total and the order.
 *
 * @returns whether it has ended; false if the list continues after its total
 */
async function* endComplete(context: PollContext, sweep: Sweep, last: ListPage): AsyncGenerator<CallPage, boolean> {
  const { poll, memory } = context
  const isNew = (key: string) => !sweep.seen.has(key)
  const next = yield* findCap(context, last, isNew)
  if (next !== undefined) {
    addToSweep(sweep, next)
    continueWithoutTotal(sweep, next)
    return false
  }
  const { shortfall: _found, cap, ...traits } = memory.traits
  const { rawTotal } = last
  const hidden =
    rawTotal === undefined ? traits.hidden : Math.max(0, Math.min(traits.hidden, rawTotal - sweep.seen.size))
  // If the list ends with its total, that total is no cap: the list has only stayed as long as it was.
  const isCapped = cap !== undefined && (rawTotal !== cap || sweep.seen.size > cap)
  memory.traits = { ...traits, hidden, ...(isCapped && { cap }) }
  if (memory.unexplainedPolls > 0 && sweep.foundMisplaced) memory.misplacedSweeps += 1
  if (memory.misplacedSweeps >= MAX_MISPLACED_SWEEPS) {
    memory.misplacedSweeps = 0
    refuteOrder(memory, poll.serviceTime)
  }
  const order = context.order()
  if (order !== 'unknown' && !isOutOfOrder(sweep, order))
    verifyOrder(memory, sweep.began?.serviceTime ?? poll.serviceTime)
  const list = yield* listAfter(context, sweep, last)
  poll.size = last.total ?? sweep.seen.size
  endSuccessfully(context, sweep, list && { ...list, verified: true })
  return true
}

/** Ends a sweep that cannot read the rest of the list: complete if it reached the horizon, else the poll is limited. */
async function* endTruncated(context: PollContext, sweep: Sweep): AsyncGenerator<CallPage, void> {
  const { memory, clock } = context
  memory.failingPage = undefined
  memory.oldestEndFailedAt = clock.monotonic()
  endSuccessfully(context, sweep, yield* listAfter(context, sweep, undefined))
}

/**
 * Ends a sweep because the service shows no more pages. A sweep that reached the horizon does not need them. Otherwise, on a
 * list that is newest first, the poll is limited; on any other it is not successful, because it does not see the newest calls.
 */
async function* endRefused(context: PollContext, sweep: Sweep, error: ServiceError): AsyncGenerator<CallPage, void> {
  const { poll, memory } = context
  if (!sweep.reachedHorizon && context.order() !== 'newest first') {
    memory.foreground = undefined
    memory.background = undefined
    const problem = `the service refuses page ${sweep.page} and all after it: ${error.message}`
    poll.problem = new ServiceError('refused', problem, { cause: error })
    return
  }
  poll.limited = !sweep.reachedHorizon
  yield* endTruncated(context, sweep)
}

/**
 * Ends a sweep that has found fewer items than the total. First it reads on to an empty page, whatever the total says. Two
 * such sweeps in a row that lack the same number show that the service counts hidden calls: from then on they are subtracted.
 *
 * @returns whether it has ended
 */
async function* endIncomplete(context: PollContext, sweep: Sweep): AsyncGenerator<CallPage, boolean> {
  const { poll, memory } = context
  if (sweep.total !== undefined && !sweep.readsPastTotal) {
    continuePastTotal(sweep)
    return false
  }
  const { truncatedAt, began } = sweep
  // If already the second page repeats the first, the service ignores the page number.
  if (truncatedAt !== undefined && truncatedAt > 2 && context.order() === 'newest first') {
    memory.refusedFrom = truncatedAt
    poll.limited = true
    yield* endTruncated(context, sweep)
    return true
  }
  const at = began?.serviceTime ?? poll.serviceTime
  const missing = missingItems(sweep)
  const items = missing === undefined ? undefined : missing + memory.traits.hidden
  const { shortfall, ...traits } = memory.traits
  if (items !== undefined && shortfall?.items === items && at > shortfall.at) {
    const more = items - traits.hidden
    // This must come before the totals of pages leave these rows out.
    const list = yield* listAfter(context, sweep, undefined)
    memory.traits = { ...traits, hidden: items }
    endSuccessfully(context, sweep, list && { ...list, total: list.total - more, verified: true })
    return true
  }
  if (items !== undefined) memory.traits = { ...traits, shortfall: { items, at } }
  // A background sweep whose shortfall changes each time waits for the sweep interval.
  if (memory.background === sweep && shortfall !== undefined) memory.sweptAt = context.begun
  if (memory.foreground === sweep) poll.problem = new ServiceError('invalid', incompleteProblem(sweep))
  memory.foreground = undefined
  memory.background = undefined
  return true
}

/** When a sweep began and ended, by both clocks. */
export function sweepTimes(
  { poll }: PollContext,
  { began = poll }: Sweep,
): Omit<PollSuccess, 'movesHorizon' | 'listed' | 'list'> {
  return {
    beganServiceTime: began.serviceTime,
    beganHostTime: began.hostTime,
    serviceTime: poll.serviceTime,
    hostTime: poll.hostTime,
  }
}

/**
 * What the next incremental poll can use after a sweep: what the incremental poll before it has found, if there was one;
 * otherwise the total of a newest page without anything new, and the ids at the oldest end.
 *
 * @param last the last page of the sweep; undefined if the oldest end must be read again
 */
export async function* listAfter(
  context: PollContext,
  sweep: Sweep,
  last: ListPage | undefined,
): AsyncGenerator<CallPage, ListSnapshot | undefined> {
  const { poll, memory, read } = context
  const order = context.order()
  const oldestEnd = order === 'newest first' ? (sweep.lastPage ?? 1) : 1
  if (poll.success !== undefined) {
    const { list } = poll.success
    if (order === 'unknown' || list?.order !== order) return undefined
    return last?.page === oldestEnd ? { ...list, oldestIds: oldestEndIds(last, order) } : list
  }
  if (order === 'unknown' || sweep.total === undefined) return undefined
  const oldestPage = last?.page === oldestEnd ? last : yield* readOldestEnd(context, oldestEnd)
  const oldestIds = oldestPage === undefined ? [] : oldestEndIds(oldestPage, order)
  // Calls that were added since the sweep began are at the newest end; a total is usable once all of them were seen.
  let total = last?.total !== undefined && sweep.seen.size >= last.total ? last.total : undefined
  for (
    let page = order === 'newest first' ? 1 : (sweep.lastPage ?? 1);
    total === undefined && page >= 1;
    page += sweep.direction
  ) {
    const seenBefore = sweep.seen.size
    const newest = yield* read(page)
    addToSweep(sweep, newest)
    if (newest.total === undefined || newest.items === 0) return undefined
    if (sweep.seen.size === seenBefore) total = newest.total
  }
  memory.newIds.clear()
  return total === undefined ? undefined : { order, total, verified: false, pageSize: memory.pageSize, oldestIds }
}

/** Ends a sweep that has seen all that the service shows back to the horizon, and with it the poll. */
export function endSuccessfully(context: PollContext, sweep: Sweep, list: ListSnapshot | undefined): void {
  const { poll, memory, clock } = context
  poll.oldest = sweep.oldest
  poll.invalidKeys = sweep.invalidKeys
  const hasInvalid = sweep.invalidKeys.size > 0
  poll.success = { ...sweepTimes(context, sweep), movesHorizon: true, listed: listedIds(sweep), hasInvalid, list }
  memory.newIds.clear()
  completeSweep(memory, clock, sweep)
}

function incompleteProblem({ total, seen }: Sweep): string {
  return total === undefined
    ? `the list did not end: after ${seen.size} calls its pages only repeated them`
    : `the service says that it lists ${total} calls, but only ${seen.size} were found on its pages`
}
