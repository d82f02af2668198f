import { ownTime } from '../ledger/call.ts'
import type { LedgerState } from '../ledger/state.ts'
import { beganAt } from '../ledger/tracked-call.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { refuteOrder } from './list-memory.ts'
import { ownBeginning } from './list-order.ts'
import type { ListPage, PageReader } from './page-reader.ts'
import { advanceSweep, isAtNewestEnd, isOutOfOrder, resumeSweep, type Sweep, type SweepProgress } from './sweep.ts'

/** How a part of a sweep ended: cut where it has read as much as it may, or as its last page left it. */
export type Reading =
  | { kind: 'cut' }
  | { kind: 'past'; last: ListPage }
  | { kind: Exclude<SweepProgress, 'on' | 'past'>; last: ListPage }
  /** The service shows no page from the next one on. */
  | { kind: 'refused'; error: ServiceError }

export type ReadingLimits = {
  /** The most pages, and for how long (seconds since the poll began); two pages are read in any case. */
  most: number
  longest: number
  /** It was cut in an earlier poll: a page is read again, since calls have moved meanwhile. */
  isResumed: boolean
}

/** Polls in a row in which a page fails, behind the horizon and before it, until the sweep does without what follows. */
const ATTEMPTS_BEHIND = 2
const ATTEMPTS_BEFORE = 5

/** A sweep that goes on begins with a page that it has read: with less than one more it would never move. */
const LEAST = 2
/** Where requests wait for the rate limit, a poll takes long in any case: a few pages more make it worth its other requests. */
const LEAST_WAITING = 6

/**
 * Reads pages of a sweep. While a page is counted the next one is on its way; no more than one, or answers would overtake
 * each other, and an older one would undo what a newer one said.
 *
 * @throws {ServiceError} when a page cannot be read
 */
export async function* readPages(
  reader: PageReader,
  sweep: Sweep,
  { most, longest, isResumed }: ReadingLimits,
): AsyncGenerator<CallPage, Reading> {
  const { poll, memory, clock, begun, note, asides } = reader
  const { passed = () => clock.monotonic() - begun } = reader
  // Behind the horizon a page that fails is not asked for again and again: the poll can do without it.
  const fetch = () => reader.fetch(sweep.page, sweep.past)
  const isPast = pastAll(reader)
  const isGivenUp = () => memory.main !== sweep && memory.sweep !== sweep
  if (isResumed) resumeSweep(sweep)
  let coming = fetch()
  for (let pages = 1; ; pages++) {
    let page: ListPage
    try {
      page = await coming
      yield* asides()
    } catch (error) {
      yield* asides()
      if (isGivenUp()) return { kind: 'cut' }
      if (!(error instanceof ServiceError)) throw error
      const times = memory.unreadable?.page === sweep.page ? memory.unreadable.times + 1 : 1
      memory.unreadable = { page: sweep.page, times }
      if (sweep.past && times < ATTEMPTS_BEHIND) {
        poll.problem = error
        return { kind: 'cut' }
      }
      if (sweep.past || (times >= ATTEMPTS_BEFORE && sweep.page > 1)) return { kind: 'refused', error }
      if (!isRefusal(error, sweep)) throw error
      // Once may be a passing trouble; a limit refuses the same page in the next cycle as well.
      const isLimit = memory.refusedFrom !== undefined && sweep.page >= memory.refusedFrom
      memory.refusedFrom = Math.min(memory.refusedFrom ?? Infinity, sweep.page)
      if (!isLimit) throw error
      return { kind: 'refused', error }
    }
    // What was read could not be kept, and the sweep was given up while this page was on its way.
    if (isGivenUp()) return { kind: 'cut' }
    const known = memory.fresh.size
    note(page)
    if (memory.fresh.size > known && !isAtNewestEnd(sweep, page)) sweep.misplaced = true
    if (memory.unreadable?.page === page.page) memory.unreadable = undefined
    const order = reader.order()
    const progress = advanceSweep(sweep, page, order, isPast)
    if (order !== 'unknown' && isOutOfOrder(sweep, order)) {
      // Whatever the order is, new calls may be anywhere: nothing but the end of the list is the end of this sweep.
      refuteOrder(memory, page.now)
      sweep.toEnd = true
    }
    const isLate = passed() >= longest || (clock.monotonic() - begun >= longest && pages >= LEAST_WAITING)
    const isCut = progress === 'on' && pages >= LEAST && (pages >= most || isLate)
    if (progress === 'on' && !isCut) {
      coming = fetch()
      // Whoever waits for it hears of its failure; nobody may.
      coming.catch(() => undefined)
    }
    yield page
    if (isCut) return { kind: 'cut' }
    if (progress !== 'on') return { kind: progress, last: page }
  }
}

/**
 * Whether a page lies wholly before the horizon, and before the earliest call that is tracked within it: a long call is
 * listed where it began, though its end is recent. Open ones are asked for one by one.
 */
function pastAll({ state, horizon }: PageReader): (page: ListPage) => boolean {
  let earliest: number | undefined
  return ({ calls }) => {
    if (calls.length === 0 || !calls.every((call) => (ownTime(call) ?? Infinity) < horizon)) return false
    earliest ??= earliestTracked(state, horizon)
    const limit = earliest
    return calls.every((call) => (ownBeginning(call) ?? 0) < limit)
  }
}

/** Calls that are tracked for a time far ahead alone have nothing more to show. */
function earliestTracked({ calls }: LedgerState, horizon: number): number {
  let earliest = Infinity
  for (const call of calls.values()) {
    const last = Math.max(ownTime(call) ?? 0, call.finish?.known ?? call.firstSeen)
    if (call.phase !== 'open' && last >= horizon) earliest = Math.min(earliest, beganAt(call))
  }
  return earliest
}

/** Services of this kind refuse pages past some depth; the first page is never too deep. */
function isRefusal(error: ServiceError, { page, began }: Sweep): boolean {
  return error.kind === 'refused' && page > 1 && began !== undefined
}
