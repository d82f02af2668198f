import { ownTime } from '../ledger/call.ts'
import type { LedgerState } from '../ledger/state.ts'
import { beganAt } from '../ledger/tracked-call.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { advanceSweep, type SweepStep } from './advance-sweep.ts'
import { refuteOrder, type ListMemory } from './list-memory.ts'
import { ownStart } from './list-order.ts'
import type { ListPage, PollContext } from './poll-context.ts'
import { isAtNewestEnd, isOutOfOrder, resumeSweep, type Sweep } from './sweep.ts'

/** The result of reading a slice of a sweep. */
export type Slice =
  /** It reached its limits, or a page failed: the next poll continues. */
  | { result: 'interrupted' }
  /** As the last page left it. */
  | { result: Exclude<SweepStep, 'continue'>; last: ListPage }
  /** The service shows no more pages. */
  | { result: 'refused'; error: ServiceError }

export type SliceLimits = {
  /** The most pages, and how long to read (seconds since the poll began). At least two pages are read. */
  maxPages: number
  maxSeconds: number
  /** An earlier poll interrupted the sweep: it reads its last page again, because calls have moved meanwhile. */
  isResumed: boolean
}

/** Polls in a row in which a page fails, older and newer than the horizon, until the sweep ends without the rest. */
const ATTEMPTS_OLDER_THAN_HORIZON = 2
const ATTEMPTS_NEWER_THAN_HORIZON = 5

/** A resumed sweep begins with a page that it has already read: with one page a poll it would never advance. */
const MIN_PAGES = 2
/** If requests wait for the rate limit, a poll takes long in any case, and reads a few more pages. */
const MIN_PAGES_WAITING = 6

/**
 * Reads pages of a sweep. The next page is requested while a page is counted; only one ahead, because answers could
 * overtake each other, and an older one would undo a newer one.
 *
 * @throws {ServiceError} if a page cannot be read
 */
export async function* readSlice(
  context: PollContext,
  sweep: Sweep,
  { maxPages, maxSeconds, isResumed }: SliceLimits,
): AsyncGenerator<CallPage, Slice> {
  const { poll, memory, clock, begun, record, extraPages } = context
  const { elapsed = () => clock.monotonic() - begun } = context
  // The poll does not depend on a page that is older than the horizon.
  const fetch = () => context.fetch(sweep.page, sweep.reachedHorizon)
  const isOlder = olderThanHorizon(context)
  const isDropped = () => memory.foreground !== sweep && memory.background !== sweep
  if (isResumed) resumeSweep(sweep)
  let next = fetch()
  for (let pages = 1; ; pages++) {
    let page: ListPage
    try {
      page = await next
      yield* extraPages()
    } catch (error) {
      yield* extraPages()
      if (isDropped()) return { result: 'interrupted' }
      if (!(error instanceof ServiceError)) throw error
      const times = memory.failingPage?.page === sweep.page ? memory.failingPage.times + 1 : 1
      memory.failingPage = { page: sweep.page, times }
      if (sweep.reachedHorizon && times < ATTEMPTS_OLDER_THAN_HORIZON) {
        poll.problem = error
        return { result: 'interrupted' }
      }
      if (sweep.reachedHorizon || (times >= ATTEMPTS_NEWER_THAN_HORIZON && sweep.page > 1))
        return { result: 'refused', error }
      if (!isRefusal(error, sweep)) throw error
      // One refusal may be a transient error; a limit refuses the same page in the next poll as well.
      const { refusedFrom = Infinity } = memory
      const isLimit = sweep.page >= refusedFrom
      // The page before the refused one was read, and is refused as well by now: the limit may be anywhere before it.
      if (isResumed && pages === 1 && sweep.page === refusedFrom - 1) drop(memory, sweep)
      memory.refusedFrom = Math.min(refusedFrom, sweep.page)
      if (!isLimit) throw error
      return { result: 'refused', error }
    }
    // A failed commit drops the sweep while the next page is requested.
    if (isDropped()) return { result: 'interrupted' }
    const newBefore = memory.newIds.size
    record(page)
    if (memory.newIds.size > newBefore && !isAtNewestEnd(sweep, page)) sweep.foundMisplaced = true
    if (memory.failingPage?.page === page.page) memory.failingPage = undefined
    const order = context.order()
    const step = advanceSweep(sweep, page, order, isOlder)
    if (order !== 'unknown' && isOutOfOrder(sweep, order)) {
      // New calls may be anywhere, so the sweep must read the whole list.
      refuteOrder(memory, page.serviceTime)
      sweep.mustReachEnd = true
    }
    const isLate = elapsed() >= maxSeconds || (clock.monotonic() - begun >= maxSeconds && pages >= MIN_PAGES_WAITING)
    const isInterrupted = step === 'continue' && pages >= MIN_PAGES && (pages >= maxPages || isLate)
    if (step === 'continue' && !isInterrupted) {
      next = fetch()
      // The next turn of the loop handles the error; if the poll ends before, there is none to handle.
      next.catch(() => undefined)
    }
    yield page
    if (isInterrupted) return { result: 'interrupted' }
    if (step !== 'continue') return { result: step, last: page }
  }
}

/**
 * Whether a page is wholly older than the horizon, and than the start of every final call that is tracked within it: a long
 * call is listed where it began, though it ended recently. Open calls have follow-ups.
 */
function olderThanHorizon({ state, horizon }: PollContext): (page: ListPage) => boolean {
  let earliest: number | undefined
  return ({ calls }) => {
    if (calls.length === 0 || !calls.every((call) => (ownTime(call) ?? Infinity) < horizon)) return false
    earliest ??= earliestTracked(state, horizon)
    const limit = earliest
    return calls.every((call) => (ownStart(call) ?? 0) < limit)
  }
}

/** Leaves out calls that are tracked only because a time of theirs is far ahead: they will not change. */
function earliestTracked({ calls }: LedgerState, horizon: number): number {
  let earliest = Infinity
  for (const call of calls.values()) {
    const last = Math.max(ownTime(call) ?? 0, call.finish?.known ?? call.firstSeen)
    if (call.phase !== 'open' && last >= horizon) earliest = Math.min(earliest, beganAt(call))
  }
  return earliest
}

/** The next poll reads the list from its first page. */
function drop(memory: ListMemory, sweep: Sweep): void {
  if (memory.foreground === sweep) memory.foreground = undefined
  if (memory.background === sweep) memory.background = undefined
}

/** A service may refuse pages beyond some depth, but never the first page. */
function isRefusal(error: ServiceError, { page, began }: Sweep): boolean {
  return error.kind === 'refused' && page > 1 && began !== undefined
}
