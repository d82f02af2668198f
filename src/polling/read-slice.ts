import type { ListKnowledge, LedgerState } from '../ledger/state.ts'
import { ownTime } from '../ledger/call.ts'
import { beganAt } from '../ledger/tracked-call.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { endOf, type Increment } from './increment.ts'
import { concludeSweep } from './list-memory.ts'
import { provenOrder } from './list-order.ts'
import type { PageReader } from './page-reader.ts'
import { addToSweep, advanceSweep, listedIn, newSweep, resumeSweep, type Sweep } from './sweep.ts'

/**
 * Reads a slice of the sweep that is under way, or of a new one. While a page is counted the next one is on its way; no
 * more than one, or answers would overtake each other, and an older one would undo what a newer one said.
 *
 * @param proven the increment that this look has read before, where it proved that nothing else is new
 */
export async function* readSlice(reader: PageReader, proven: Increment | undefined): AsyncGenerator<CallPage, void> {
  const { look, memory, clock, begun, interval, fetchPage, note } = reader
  const sweep = memory.sweep ?? newSweep(provenOrder(memory.order), proven?.lastPage)
  if (memory.sweep === undefined) memory.sweepBegan = begun
  else resumeSweep(sweep)
  memory.sweep = sweep
  const most = proven === undefined ? Infinity : reader.slice
  // Less than an interval: a cycle that misses the next tick waits for the one after it.
  const longest = interval * (proven === undefined ? 0.9 : 0.5)
  // A sweep that goes on begins with a page that it has read: with less than one more it would never move.
  const least = sweep.began === undefined ? 1 : 2
  const goesOn = (pages: number) => pages < least || (pages < most && clock.monotonic() - begun < longest)
  const isPast = pastAll(reader)
  let coming = fetchPage(sweep.page)
  for (let pages = 1; ; pages++) {
    let page: CallPage
    try {
      page = await coming
    } catch (error) {
      if (memory.sweep !== sweep) return
      if (!isRefusal(error, sweep)) throw error
      // Once may be a passing trouble; a limit refuses the same page in the next cycle as well.
      const isLimit = memory.refusedFrom !== undefined && sweep.page >= memory.refusedFrom
      memory.refusedFrom = Math.min(memory.refusedFrom ?? Infinity, sweep.page)
      if (!isLimit) throw error
      yield* endLimited(reader, sweep, proven, error)
      return
    }
    // What was read could not be kept, and the sweep was given up while this page was on its way.
    if (memory.sweep !== sweep) return
    note(page)
    const progress = advanceSweep(sweep, page, provenOrder(memory.order), isPast)
    const isCut = progress === 'on' && !goesOn(pages)
    if (progress === 'on' && !isCut) {
      coming = fetchPage(sweep.page)
      // Whoever waits for it hears of its failure; nobody may.
      coming.catch(() => undefined)
    }
    yield page
    if (isCut) return
    if (progress === 'on') continue
    if (progress === 'stuck') {
      memory.sweep = undefined
      look.problem = new ServiceError('invalid', stuckBecause(sweep))
    } else yield* endWhole(reader, sweep, proven, page)
    return
  }
}

/** The service does not show more. Newest first, that is all that a look can see; otherwise new calls stay unseen. */
async function* endLimited(
  reader: PageReader,
  sweep: Sweep,
  proven: Increment | undefined,
  error: ServiceError,
): AsyncGenerator<CallPage, void> {
  const { look, memory } = reader
  if (provenOrder(memory.order) === 'newest first') {
    look.limited = true
    yield* endWhole(reader, sweep, proven, undefined)
    return
  }
  memory.sweep = undefined
  look.problem = new ServiceError(
    'refused',
    `the service refuses page ${sweep.page} and what follows: ${error.message}`,
    { cause: error },
  )
}

async function* endWhole(
  reader: PageReader,
  sweep: Sweep,
  proven: Increment | undefined,
  last: CallPage | undefined,
): AsyncGenerator<CallPage, void> {
  const { look, memory, clock } = reader
  const list = proven === undefined ? yield* knowledgeAfter(reader, sweep, last) : look.end?.list
  const { began = look } = sweep
  const listed = listedIn(sweep)
  look.end = { whole: true, began: began.now, hostBegan: began.host, now: look.now, host: look.host, listed, list }
  memory.sweepPages = sweep.done
  concludeSweep(memory, clock, memory.sweepBegan)
}

/** What the next look can go by, after a sweep that no increment preceded. */
async function* knowledgeAfter(
  { memory, read }: PageReader,
  sweep: Sweep,
  last: CallPage | undefined,
): AsyncGenerator<CallPage, ListKnowledge | undefined> {
  const order = provenOrder(memory.order)
  if (order === 'unknown' || sweep.total === undefined) return undefined
  const { pageSize } = sweep
  const farEnd = order === 'newest first' ? (sweep.lastPage ?? 1) : 1
  let end: string[] = []
  if (last?.page === farEnd) end = endOf(last, order)
  else if (last !== undefined) end = endOf(yield* read(farEnd), order)
  // Calls that came in since the sweep began are at the newest end; until they are all seen, no total is worth knowing.
  let total = last?.total !== undefined && sweep.seen.size >= last.total ? last.total : undefined
  for (
    let page = order === 'newest first' ? 1 : (sweep.lastPage ?? 1);
    total === undefined && page >= 1;
    page += sweep.direction
  ) {
    const known = sweep.seen.size
    const newest = yield* read(page)
    addToSweep(sweep, newest)
    if (newest.total === undefined || newest.items === 0) return undefined
    if (sweep.seen.size === known) total = newest.total
  }
  memory.fresh.clear()
  return total === undefined ? undefined : { order, total, pageSize, end }
}

/**
 * Whether a page lies wholly before the horizon, and before the earliest call that is remembered: a long call stands
 * where it began, though its end is recent. Open ones are asked for one by one.
 */
function pastAll({ state, horizon }: PageReader): (page: CallPage) => boolean {
  let earliest: number | undefined
  return ({ calls }) => {
    if (calls.length === 0 || !calls.every((call) => (ownTime(call) ?? Infinity) < horizon)) return false
    earliest ??= earliestRemembered(state)
    const limit = earliest
    return calls.every(({ initiatedAt, startedAt, endedAt }) => (initiatedAt ?? startedAt ?? endedAt ?? 0) < limit)
  }
}

function earliestRemembered({ calls }: LedgerState): number {
  let earliest = Infinity
  for (const call of calls.values()) if (call.phase !== 'open') earliest = Math.min(earliest, beganAt(call))
  return earliest
}

/** Services of this kind refuse pages past some depth; the first page is never too deep. */
function isRefusal(error: unknown, { page, began }: Sweep): error is ServiceError {
  return error instanceof ServiceError && error.kind === 'refused' && page > 1 && began !== undefined
}

function stuckBecause({ total, seen }: Sweep): string {
  return total === undefined
    ? `the list did not end: after ${seen.size} calls its pages only repeated them`
    : `the service says that it lists ${total} calls, but only ${seen.size} were found on its pages`
}
