import type { ListKnowledge } from '../ledger/state.ts'
import type { PollEnd } from '../ledger/observation.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { endOf } from './increment.ts'
import { concludeSweep, proveOrder, refuteOrder } from './list-memory.ts'
import type { ListPage, PageReader } from './page-reader.ts'
import { findCap } from './total-cap.ts'
import type { Reading } from './read-pages.ts'
import { addToSweep, followToEmpty, goOnWithoutTotal, isOutOfOrder, listedIn, type Sweep } from './sweep.ts'

/** Readings that find new calls out of place before the order counts as refuted. */
const MISPLACED = 3

/**
 * Ends a sweep as its last reading left it.
 *
 * @returns whether it has ended; not where there is more to read
 */
export async function* endSweep(
  reader: PageReader,
  sweep: Sweep,
  reading: Exclude<Reading, { kind: 'cut' } | { kind: 'past' }>,
): AsyncGenerator<CallPage, boolean> {
  if (reading.kind === 'complete') return yield* endComplete(reader, sweep, reading.last)
  if (reading.kind === 'stuck') return yield* endStuck(reader, sweep)
  if (reading.kind === 'refused') yield* endRefused(reader, sweep, reading.error)
  else yield* endUnreadable(reader, sweep)
  return true
}

/**
 * Ends a sweep that has seen as many items as the list has. What it has seen of the list as a whole is known for good: the
 * total, and that its order held.
 *
 * @returns whether it has ended; not where the list goes on behind its total
 */
async function* endComplete(reader: PageReader, sweep: Sweep, last: ListPage): AsyncGenerator<CallPage, boolean> {
  const { poll, memory } = reader
  const isNew = (key: string) => !sweep.seen.has(key)
  const behind = yield* findCap(reader, last, isNew)
  if (behind !== undefined) {
    addToSweep(sweep, behind)
    goOnWithoutTotal(sweep, behind)
    return false
  }
  const { shortfall: _found, cap, ...facts } = memory.facts
  const { rows } = last
  const hidden = rows === undefined ? facts.hidden : Math.max(0, Math.min(facts.hidden, rows - sweep.seen.size))
  // A list that ends with its total is one that stands still there, as one does that keeps so many calls.
  const isCapped = cap !== undefined && (rows !== cap || sweep.seen.size > cap)
  memory.facts = { ...facts, hidden, ...(isCapped && { cap }) }
  if (memory.unexplained > 0 && sweep.misplaced) memory.misplaced += 1
  if (memory.misplaced >= MISPLACED) {
    memory.misplaced = 0
    refuteOrder(memory, poll.now)
  }
  const order = reader.order()
  if (order !== 'unknown' && !isOutOfOrder(sweep, order)) proveOrder(memory, sweep.began?.now ?? poll.now)
  const known = yield* listAfter(reader, sweep, last)
  poll.size = last.total ?? sweep.seen.size
  endWhole(reader, sweep, known && { ...known, verified: true })
  return true
}

/**
 * Ends a sweep that has seen all back to the horizon, and cannot read the rest of the list: what lies there stays unknown,
 * and is tried again by the next sweep.
 */
async function* endUnreadable(reader: PageReader, sweep: Sweep): AsyncGenerator<CallPage, void> {
  const { memory, clock } = reader
  memory.unreadable = undefined
  memory.endUnreadableAt = clock.monotonic()
  endWhole(reader, sweep, yield* listAfter(reader, sweep, undefined))
}

/**
 * The service does not show more. Back to the horizon, that is enough; newest first, it is all that a poll can see, which is
 * limited then; otherwise new calls stay unseen.
 */
async function* endRefused(reader: PageReader, sweep: Sweep, error: ServiceError): AsyncGenerator<CallPage, void> {
  const { poll, memory } = reader
  if (!sweep.past && reader.order() !== 'newest first') {
    memory.main = undefined
    memory.sweep = undefined
    const said = `the service refuses page ${sweep.page} and what follows: ${error.message}`
    poll.problem = new ServiceError('refused', said, { cause: error })
    return
  }
  poll.limited = !sweep.past
  yield* endUnreadable(reader, sweep)
}

/**
 * Ends a sweep that has found fewer items than the total, whatever it read. Two in a row that lack as many say that the
 * service counts rows which it does not show: from then on the total is reckoned without them. Before that the list is
 * followed to an empty page, whatever its total says.
 *
 * @returns whether it has ended
 */
async function* endStuck(reader: PageReader, sweep: Sweep): AsyncGenerator<CallPage, boolean> {
  const { poll, memory } = reader
  if (sweep.total !== undefined && !sweep.toEmpty) {
    followToEmpty(sweep)
    return false
  }
  const { total, seen, cutAt, began } = sweep
  // Where the second page is the first one again, the service does not look at the number of the page.
  if (cutAt !== undefined && cutAt > 2 && reader.order() === 'newest first') {
    memory.refusedFrom = cutAt
    poll.limited = true
    yield* endUnreadable(reader, sweep)
    return true
  }
  const at = began?.now ?? poll.now
  const items = total === undefined ? undefined : total + memory.facts.hidden - seen.size
  const { shortfall, ...facts } = memory.facts
  if (items !== undefined && shortfall?.items === items && at > shortfall.at) {
    const more = items - facts.hidden
    // Before the total of a page is reckoned without them.
    const known = yield* listAfter(reader, sweep, undefined)
    memory.facts = { ...facts, hidden: items }
    endWhole(reader, sweep, known && { ...known, total: known.total - more, verified: true })
    return true
  }
  if (items !== undefined) memory.facts = { ...facts, shortfall: { items, at } }
  // A total that moves on each time is not asked about without pause.
  if (memory.sweep === sweep && shortfall !== undefined) memory.sweptAt = reader.begun
  if (memory.main === sweep) poll.problem = new ServiceError('invalid', stuckBecause(sweep))
  memory.main = undefined
  memory.sweep = undefined
  return true
}

/** When a sweep began and ended, by both clocks. */
export function timesOf({ poll }: PageReader, { began = poll }: Sweep): Omit<PollEnd, 'complete' | 'listed' | 'list'> {
  return { began: began.now, hostBegan: began.host, now: poll.now, host: poll.host }
}

/**
 * What the next poll can go by after a sweep: where an increment preceded it, what that has found; else the total of a
 * newest page without anything new, and the ids at the far end.
 *
 * @param last the page that the sweep read last; undefined where the far end is to be read anew
 */
export async function* listAfter(
  reader: PageReader,
  sweep: Sweep,
  last: ListPage | undefined,
): AsyncGenerator<CallPage, ListKnowledge | undefined> {
  const { poll, memory, read } = reader
  const order = reader.order()
  const farEnd = order === 'newest first' ? (sweep.lastPage ?? 1) : 1
  if (poll.end !== undefined) {
    const { list } = poll.end
    if (order === 'unknown' || list?.order !== order) return undefined
    return last?.page === farEnd ? { ...list, end: endOf(last, order) } : list
  }
  if (order === 'unknown' || sweep.total === undefined) return undefined
  const end = last?.page === farEnd ? endOf(last, order) : yield* readFarEnd(reader, order, farEnd)
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
  return total === undefined ? undefined : { order, total, verified: false, pageSize: memory.pageSize, end }
}

/** The ids at the far end; none where it cannot be read, which is asked for once a sweep interval. */
async function* readFarEnd(
  { memory, clock, sweepInterval, read }: PageReader,
  order: ListKnowledge['order'],
  page: number,
): AsyncGenerator<CallPage, string[]> {
  if (clock.monotonic() - (memory.endUnreadableAt ?? -Infinity) < sweepInterval) return []
  try {
    return endOf(yield* read(page, true), order)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    memory.endUnreadableAt = clock.monotonic()
    return []
  }
}

/** The sweep is complete: all back to the horizon was seen. */
export function endWhole(reader: PageReader, sweep: Sweep, list: ListKnowledge | undefined): void {
  const { poll, memory, clock } = reader
  poll.oldest = sweep.oldest
  poll.end = { ...timesOf(reader, sweep), complete: true, listed: listedIn(sweep), list }
  memory.fresh.clear()
  concludeSweep(memory, clock, sweep)
}

function stuckBecause({ total, seen }: Sweep): string {
  return total === undefined
    ? `the list did not end: after ${seen.size} calls its pages only repeated them`
    : `the service says that it lists ${total} calls, but only ${seen.size} were found on its pages`
}
