import { finalStatus, ownTime } from '../../ledger/call.ts'
import { isExcluded } from '../../ledger/horizon.ts'
import { overlapRows, type KnownList } from '../../ledger/known-list.ts'
import type { ListedCall } from '../../ledger/observation.ts'
import type { LedgerState } from '../../ledger/state.ts'
import { beganAt, type TrackedCall } from '../../ledger/tracked-call.ts'
import type { CallPage } from '../../service/calls-client.ts'
import { ServiceError } from '../../service/service-error.ts'
import { findLastPage } from './last-page.ts'
import { knownOrder, ownStart } from './list-order.ts'
import type { ListMemory } from './list-state.ts'
import { isClientError, type PollContext } from '../poll-context.ts'
import { advance, inwards, lastPageBy, type Knowledge, type Reading, type Step } from './reading.ts'

/** What a reading has reached. Or: new calls appear at the other end, or the service shows no more of the list. */
export type ReadingEnd =
  | { at: Exclude<Step, 'next page' | 'stuck'> }
  | { at: 'other end' }
  | { at: 'refused'; error: ServiceError }

export type ReadLimits = {
  /** The most pages, and the longest time to read (seconds since the poll began). At least one page is read. */
  maxPages: number
  maxSeconds: number
  /** Whether the reading ends if pages show that new calls appear at the other end. */
  mayTurn: boolean
}

/** If requests wait for the rate limiter, a poll takes long in any case, and reads this many pages. */
const PAGES_WAITING = 6
/**
 * In how many polls in a row a page must fail to count as refused. And if the service says so, or the poll does not need the
 * page.
 */
const ATTEMPTS = 5
const FEWER_ATTEMPTS = 2
/** Such an error does not show that a page is past the last one. */
const SAYS_NOTHING: ReadonlySet<ServiceError['kind']> = new Set(['rate_limited', 'auth', 'scope', 'app', 'plan'])

/**
 * Reads the pages that a reading needs, until it has ended or reached its limits.
 *
 * @returns undefined if the next poll continues the reading
 * @throws {ServiceError} if a page cannot be read
 */
export async function* readPages(
  context: PollContext,
  reading: Reading,
  { maxPages, maxSeconds, mayTurn }: ReadLimits,
): AsyncGenerator<CallPage, ReadingEnd | undefined> {
  const { elapsed, clock, begun } = context
  const known = knowledgeOf(context)
  const isLate = (pages: number) =>
    elapsed() >= maxSeconds || (pages >= PAGES_WAITING && clock.monotonic() - begun >= maxSeconds)
  // Calls have moved since the last poll.
  reading.pages.previous = undefined
  for (let pages = 0; pages === 0 || (pages < maxPages && !isLate(pages)); pages++) {
    const next = yield* nextPage(context, reading)
    if ('at' in next) return next
    const { page, isYielded } = next
    // Before the calls of the page are counted: afterwards none is new.
    const ended = endedBy(context, reading, { page, mayTurn, known: known(reading) })
    if (!isYielded) yield page
    if (ended !== undefined) return ended
  }
  return undefined
}

function endedBy(
  { memory }: PollContext,
  reading: Reading,
  { page, mayTurn, known }: { page: CallPage; mayTurn: boolean; known: Knowledge },
): ReadingEnd | undefined {
  if (mayTurn && growingEnd(memory).end !== reading.end) {
    memory.pages.last ??= lastPageBy(page, page.items)
    return { at: 'other end' }
  }
  const step = advance(reading, page, known)
  if (step !== 'stuck') return step === 'next page' ? undefined : { at: step }
  return refused(memory, reading, new ServiceError('refused', 'the pages of the list only repeat'))
}

function knowledgeOf(context: PollContext): (reading: Reading) => Knowledge {
  const { poll, memory, state, horizon } = context
  const isOlderThanHorizon = olderThanHorizon(context)
  const isNewer = (call: TrackedCall | undefined) =>
    call !== undefined && call.phase !== 'lost' && (ownTime(call) ?? -Infinity) >= horizon
  return (reading) => {
    const { end, isKnown } = growingEnd(memory)
    const { list } = memory
    return {
      isByTime: isKnown && end === reading.end,
      mayEndAtHorizon: list?.order?.isByTime !== false,
      overlap: list === undefined ? 0 : overlapRows(list, poll.serviceTime),
      isSettled: (call) => ('phase' in call ? call.phase !== 'open' : isSettled(call, state)),
      sweptAt: state.sync.lastSweepBegan ?? Infinity,
      isNew: (call) => !('phase' in call) && !state.calls.has(call.id) && !isExcluded(call, horizon),
      isOlderThanHorizon,
      knowsNewer: () => list?.joint.some((id) => isNewer(state.calls.get(id))) === true,
    }
  }
}

/** Whether a call is final, and already was before. */
function isSettled(call: ListedCall, { calls }: LedgerState): boolean {
  return finalStatus(call) !== undefined && calls.phase(call.id) !== 'open'
}

/**
 * The end where new calls appear, according to the latest pages. If they show no order, the list is read from the first page.
 */
export function growingEnd({ pages }: ListMemory): { end: KnownList['end']; isKnown: boolean } {
  const order = knownOrder(pages.evidence)
  return { end: order === 'oldest first' ? 'last' : 'first', isKnown: order !== 'unknown' }
}

async function* nextPage(
  context: PollContext,
  reading: Reading,
): AsyncGenerator<CallPage, { page: CallPage; isYielded: boolean } | ReadingEnd> {
  const { memory, poll, fetch } = context
  const { next, end, began, reachedHorizon } = reading
  try {
    if (end === 'last' && began === undefined) return { page: yield* findLastPage(context, reading), isYielded: true }
    // The poll does not need calls that are older than the horizon.
    return { page: await fetch(next, reachedHorizon), isYielded: false }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (poll.pages === 0) goBack(memory, reading)
    else if (error.kind === 'rate_limited') throw error
    else if (saysPastLast(reading, error)) return { page: emptyPage(poll, next), isYielded: true }
    else if (hasFailedOften(memory, reading, error)) return refused(memory, reading, error)
    // The next poll starts with a page that the service shows. A poll without any page would request no open calls either.
    else reading.next = reading.pages.previous?.page ?? next
    throw error
  }
}

/**
 * A page that fails during an outage is not refused. Until the service shows some page, each poll starts one page earlier. If
 * the first page fails as well, the reading starts over.
 */
function goBack(memory: ListMemory, reading: Reading): void {
  const { next, began, end } = reading
  memory.depth.failing ??= { page: next, polls: 0 }
  if (began === undefined) return
  reading.next = next - inwards(reading)
  const first = end === 'first' ? 1 : (memory.pages.last ?? 0)
  if ((first - reading.next) * inwards(reading) > 0) memory.catchUp = undefined
}

/** Whether the page has failed in enough polls in a row to count as refused. */
function hasFailedOften({ depth }: ListMemory, reading: Reading, error: ServiceError): boolean {
  const { next, began, reachedHorizon } = reading
  const { failing } = depth
  const polls = failing?.page === next ? failing.polls + 1 : 1
  depth.failing = { page: next, polls }
  if (began === undefined || next === 1) return false
  return polls >= (reachedHorizon || error.kind === 'refused' ? FEWER_ATTEMPTS : ATTEMPTS)
}

function refused({ depth }: ListMemory, { next, end }: Reading, error: ServiceError): ReadingEnd {
  if (end === 'first') depth.refusedFrom = Math.min(depth.refusedFrom ?? Infinity, next)
  return { at: 'refused', error }
}

/** Many services answer a page past the last one with an error. If the last page is known, any error counts. */
function saysPastLast({ end, next, pages }: Reading, error: ServiceError): boolean {
  const { previous, size, last, areUneven } = pages
  if (end !== 'first' || next === 1) return false
  const isAfterShort = previous?.page === next - 1 && previous.items < size
  if (last === undefined ? isAfterShort && !areUneven : next > last) return !SAYS_NOTHING.has(error.kind)
  return isClientError(error) && (isAfterShort || (last === undefined && error.status === 404))
}

function emptyPage({ serviceTime, hostTime }: PollContext['poll'], page: number): CallPage {
  const nothing = { calls: [], keys: [], invalid: {}, items: 0, total: undefined, totalPages: undefined }
  return { ...nothing, page, serviceTime, hostTime, limit: undefined }
}

/**
 * Whether a page is older than the horizon, and older than the start of every tracked final call within the horizon. A long
 * call is listed by its start, even if it ended recently. Open calls have follow-ups.
 */
function olderThanHorizon({ state, horizon }: PollContext): (page: CallPage) => boolean {
  let earliest: number | undefined
  return ({ calls }) => {
    if (calls.length === 0 || !calls.every((call) => (ownTime(call) ?? Infinity) < horizon)) return false
    earliest ??= earliestTracked(state, horizon)
    const limit = earliest
    return calls.every((call) => (ownStart(call) ?? 0) < limit)
  }
}

/** Leaves out calls that are tracked only because one of their times is far in the future. They will not change. */
function earliestTracked({ calls }: LedgerState, horizon: number): number {
  let earliest = Infinity
  for (const call of calls.values()) {
    const last = Math.max(ownTime(call) ?? 0, call.finish?.known ?? call.firstSeen)
    if (call.phase !== 'open' && last >= horizon) earliest = Math.min(earliest, beganAt(call))
  }
  return earliest
}
