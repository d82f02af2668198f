import type { CallPage } from '../service/calls-client.ts'
import type { ListOrder } from './list-order.ts'

/**
 * A reading of the whole list back to the horizon, page by page, over as many cycles as it takes. Lives from its first
 * page to its end, and is changed in place meanwhile.
 */
export type Sweep = {
  /** The service's clock and the host's when its first page was answered (UNIX seconds); undefined before. */
  began: { now: number; host: number } | undefined
  /** The page to be read next, and in which direction it goes on from there. */
  page: number
  direction: 1 | -1
  /** Keys of the items that were seen, unusable ones included: as many as the service's total means all. */
  readonly seen: Set<string>
  /** Those of them that were seen in a form that cannot be used only. */
  readonly unusable: Set<string>
  /** What the service said on the sweep's first page, and what it said last. */
  firstTotal: number | undefined
  total: number | undefined
  /** The number of the last page, and the most items that a page had. */
  lastPage: number | undefined
  pageSize: number
  /** Pages read so far. */
  done: number
  /** Ends of the list that were reached so far, and how many of them in a row brought nothing new. */
  passes: number
  idlePasses: number
  /** Whether this pass has brought anything new, and how many pages in a row have not. */
  news: boolean
  stalePages: number
  /** Whether the page before is being read again. */
  again: boolean
}

/** How a sweep goes on after a page: with another one, or it has ended; `stuck` where no further page helps. */
export type SweepProgress = 'on' | 'complete' | 'stuck'

/** Passes in a row that may bring nothing new before a sweep is given up: a shuffled list shows its last items late. */
const IDLE_PASSES = 2
const IDLE_PASSES_UNORDERED = 8
/** Pages in a row that only repeat, after which a list that names no total is taken to go round in circles. */
const STALE_PAGES = 3

/** @param lastPage of the list, as far as it is known */
export function newSweep(order: ListOrder, lastPage: number | undefined): Sweep {
  const backwards = order === 'oldest first' && lastPage !== undefined
  return {
    began: undefined,
    page: backwards ? lastPage : 1,
    direction: backwards ? -1 : 1,
    seen: new Set(),
    unusable: new Set(),
    firstTotal: undefined,
    total: undefined,
    lastPage,
    pageSize: 1,
    done: 0,
    passes: 0,
    idlePasses: 0,
    news: false,
    stalePages: 0,
    again: false,
  }
}

/** A sweep that was cut goes on with the page before the one at which it was. */
export function resumeSweep(sweep: Sweep): void {
  sweep.page = Math.max(1, sweep.page - sweep.direction)
  sweep.done = Math.max(0, sweep.done - 1)
  sweep.again = false
}

/** Adds what a page showed, which may have been read for another reason. */
export function addToSweep(sweep: Sweep, page: CallPage): void {
  const before = sweep.seen.size
  if (page.items !== page.calls.length || sweep.unusable.size > 0) noteUnusable(sweep, page)
  for (const key of page.keys) sweep.seen.add(key)
  const isNews = sweep.seen.size > before
  sweep.news ||= isNews
  sweep.stalePages = isNews ? 0 : sweep.stalePages + 1
  sweep.pageSize = Math.max(sweep.pageSize, page.items)
}

function noteUnusable({ seen, unusable }: Sweep, { calls, keys }: CallPage): void {
  const usable = new Set(calls.map(({ id }) => id))
  for (const key of keys) if (!usable.has(key) && !seen.has(key)) unusable.add(key)
  for (const id of usable) unusable.delete(id)
}

/** Ids that were listed with a usable status. */
export function listedIn({ seen, unusable }: Sweep): ReadonlySet<string> {
  return unusable.size === 0 ? seen : seen.difference(unusable)
}

/**
 * Takes the page that the sweep asked for, and decides how it goes on.
 *
 * @param order as known after this page
 * @param isPast whether a page lies wholly before all that the sweep has to see
 */
export function advanceSweep(
  sweep: Sweep,
  page: CallPage,
  order: ListOrder,
  isPast: (page: CallPage) => boolean,
): SweepProgress {
  const shrunk = sweep.total !== undefined && page.total !== undefined && page.total < sweep.total
  addToSweep(sweep, page)
  sweep.began ??= { now: page.now, host: page.host }
  sweep.firstTotal ??= page.total
  sweep.total = page.total
  sweep.lastPage = lastPageOf(page, sweep.pageSize) ?? sweep.lastPage
  sweep.done += 1
  if (page.total !== undefined && sweep.seen.size >= page.total) return 'complete'
  if (page.total === undefined && page.items === 0 && sweep.direction === 1) return 'complete'

  const isInOrder = order === (sweep.direction === 1 ? 'newest first' : 'oldest first')
  if (isInOrder && isPast(page)) return 'complete'
  if (sweep.done === 1 && sweep.direction === 1 && order === 'oldest first' && sweep.lastPage !== undefined) {
    // Its first page has shown that the newest calls stand at the other end.
    sweep.direction = -1
    sweep.page = sweep.lastPage
    return 'on'
  }
  if (shrunk && sweep.direction === 1 && page.page > 1 && !sweep.again) {
    // Something has left the list before this page: what followed may have slipped back over the boundary.
    sweep.again = true
    sweep.page = page.page - 1
    return 'on'
  }
  sweep.again = false
  // On its way back to calls that came in meanwhile, a pass over a list in order ends where nothing is new.
  const isKnownFromHere = sweep.passes > 0 && isInOrder && sweep.stalePages > 0
  const goesRound = page.total === undefined && sweep.stalePages >= STALE_PAGES
  if (!isKnownFromHere && !goesRound && !isLast(sweep, page)) {
    sweep.page = page.page + sweep.direction
    return 'on'
  }
  return endPass(sweep, order)
}

function endPass(sweep: Sweep, order: ListOrder): SweepProgress {
  sweep.passes += 1
  sweep.idlePasses = sweep.news ? 0 : sweep.idlePasses + 1
  if (sweep.idlePasses >= (order === 'unknown' ? IDLE_PASSES_UNORDERED : IDLE_PASSES)) return 'stuck'
  sweep.news = false
  sweep.stalePages = 0
  sweep.page = sweep.direction === 1 ? 1 : (sweep.lastPage ?? 1)
  return 'on'
}

/** The number of the list's last page; the service's own figure may count with a page size that it does not give. */
export function lastPageOf({ total, totalPages }: CallPage, pageSize: number): number | undefined {
  if (total === undefined) return totalPages
  return Math.max(totalPages ?? 1, Math.ceil(total / pageSize), 1)
}

function isLast({ direction, lastPage }: Sweep, page: CallPage): boolean {
  if (direction === -1) return page.page <= 1
  return page.items === 0 || (page.total !== undefined && lastPage !== undefined && page.page >= lastPage)
}
