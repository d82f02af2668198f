import type { ListOrder } from './list-order.ts'
import { addToOrder, newOrderAcrossPages } from './order-across-pages.ts'
import type { ListPage } from './poll-context.ts'
import { hasShrunk } from './shrunk-list.ts'
import { addToSweep, newPass, newSweep, type Sweep } from './sweep.ts'

/**
 * What follows a page of a sweep:
 *
 * - `continue`: another page
 * - `horizon`: it may end before the end of the list
 * - `complete`: it has seen the whole list
 * - `truncated`: it has reached the horizon, and the rest of the list is not shown, whatever its total
 * - `incomplete`: items are missing, and no further page helps
 */
export type SweepStep = 'continue' | 'horizon' | 'complete' | 'truncated' | 'incomplete'

/** Passes in a row without anything new until a sweep ends incomplete: a shuffled list may show its last items late. */
const IDLE_PASSES = 2
const IDLE_PASSES_UNORDERED = 8
/** Pages in a row without anything new, after which the list only repeats itself. */
const STALE_PAGES = 3
/** The same with a total: the pages may have moved by as many calls as were added meanwhile. */
const STALE_PAGES_WITH_TOTAL = 10
/** If a pass shows so much of what was seen again, pages of the list only overlap; a shuffled list shows less. */
const SHOWN_AGAIN = 0.9

/**
 * Adds the page that the sweep requested, and decides what follows. Also sets the next page, because a sweep that may end
 * can be made to continue.
 *
 * @param order as known after this page
 * @param isOlderThanHorizon whether a page is wholly older than the horizon
 */
export function advanceSweep(
  sweep: Sweep,
  page: ListPage,
  order: ListOrder,
  isOlderThanHorizon: (page: ListPage) => boolean,
): SweepStep {
  if (hasShrunk(page.total ?? Infinity, sweep.total ?? 0)) {
    // This is another list, of which nothing was seen. But one answer may be wrong, so its page is read again first.
    if (sweep.isConfirmingShrink) restart(sweep, page, order)
    else sweep.isConfirmingShrink = true
    return 'continue'
  }
  sweep.isConfirmingShrink = false
  const isSmaller = sweep.total !== undefined && page.total !== undefined && page.total < sweep.total
  addPage(sweep, page, order)

  const isInOrder = order === (sweep.direction === 1 ? 'newest first' : 'oldest first')
  const isLast = isLastPage(sweep, page, order)
  const total = page.total ?? sweep.countedTotal
  if (total !== undefined && sweep.seen.size >= total) {
    // On a list in order, calls that were added meanwhile may complete the number before the last page is read.
    if (!isInOrder || sweep.passes > 0 || isLast) return 'complete'
  } else if (page.items === 0 && sweep.direction === 1) {
    if (page.total === undefined && isWholeListSeen(sweep, page, order)) return 'complete'
    if (page.page < (page.lastPage ?? 0)) sweep.truncatedAt = page.page
    if (sweep.truncatedAt !== undefined && sweep.reachedHorizon) return 'truncated'
  }
  if (isInOrder && isOlderThanHorizon(page)) sweep.reachedHorizon = true

  if (sweep.pagesRead === 1 && sweep.direction === 1 && order === 'oldest first' && sweep.lastPage !== undefined) {
    // The first page has shown that the newest calls are at the other end.
    sweep.direction = -1
    sweep.page = sweep.lastPage
    sweep.orderAcrossPages = newOrderAcrossPages()
    return 'continue'
  }
  if (isSmaller && sweep.direction === 1 && page.page > 1 && !sweep.isRepeating) {
    // A row has left the list, so the first call of this page may have moved to the page before.
    sweep.isRepeating = true
    sweep.page = page.page - 1
    return 'continue'
  }
  sweep.isRepeating = false
  // A later pass over a list in order only looks for calls that were added meanwhile, and ends where nothing is new.
  const isKnownFromHere = sweep.passes > 0 && isInOrder && sweep.stalePages > 0
  const isBeforeEnd = sweep.countedTotal !== undefined && page.page < (sweep.lastPage ?? 0)
  const maxStale = page.total === undefined ? allowedRepeats(sweep, order) : STALE_PAGES_WITH_TOTAL
  const onlyRepeats = sweep.stalePages >= maxStale && !isBeforeEnd
  if (onlyRepeats && sweep.reachedHorizon && !isLast) return 'truncated'
  if (onlyRepeats && page.total === undefined) sweep.truncatedAt = page.page - maxStale + 1
  if (isKnownFromHere || (onlyRepeats && page.total === undefined) || isLast) return endPass(sweep, order)
  sweep.page = page.page + sweep.direction
  return sweep.reachedHorizon && !sweep.mustReachEnd ? 'horizon' : 'continue'
}

function addPage(sweep: Sweep, page: ListPage, order: ListOrder): void {
  if (sweep.passes === 0 && !sweep.isRepeating) {
    const unseen = page.calls.filter(({ id }) => !sweep.seen.has(id))
    addToOrder(sweep.orderAcrossPages, sweep.direction === 1 ? unseen : unseen.toReversed())
  }
  addToSweep(sweep, page)
  if (order === 'unknown' && page.total === undefined) addToPass(sweep, page)
  sweep.began ??= { serviceTime: page.serviceTime, hostTime: page.hostTime }
  if (page.page === 1 && sweep.direction === 1) {
    sweep.passBegan = { serviceTime: page.serviceTime, total: page.total }
    sweep.addedSince = 0
  }
  sweep.total = page.total
  sweep.lastPage = page.lastPage ?? sweep.lastPage
  sweep.pagesRead += 1
  sweep.largestPage = Math.max(sweep.largestPage, page.items)
}

/** A page that is read again does not add to the number of items. */
function addToPass({ pass }: Sweep, { page, keys }: ListPage): void {
  if (page <= pass.lastPage) return
  for (const key of keys) pass.keys.add(key)
  pass.items += keys.length
  pass.lastPage = page
}

/** Pages in a row that may repeat without a total. If the order changes, all that was seen may come once more. */
function allowedRepeats({ seen, largestPage }: Sweep, order: ListOrder): number {
  return STALE_PAGES + (order === 'unknown' ? Math.ceil(seen.size / Math.max(1, largestPage)) : 0)
}

/** Drops what was seen, and keeps the reason and the effort of the sweep. */
function restart(sweep: Sweep, { lastPage }: ListPage, order: ListOrder): void {
  const { startedAt, pagesRead, mustReachEnd } = sweep
  Object.assign(sweep, newSweep({ order, lastPage, startedAt }), { pagesRead, mustReachEnd })
}

/**
 * Whether the whole list was seen, if it has no total and this page is empty. A list without order whose pages repeat each
 * other may be shuffled: then it has as many items as its pages.
 */
function isWholeListSeen(sweep: Sweep, { page }: ListPage, order: ListOrder): boolean {
  const { pass, seen } = sweep
  if (order !== 'unknown' || pass.items === pass.keys.size) return true
  if (sweep.passes > 0 && !pass.hasNew && pass.keys.size >= seen.size * SHOWN_AGAIN) return true
  sweep.countedTotal = pass.items
  sweep.lastPage = page
  return seen.size >= sweep.countedTotal
}

function endPass(sweep: Sweep, order: ListOrder): SweepStep {
  const { hasNew } = sweep.pass
  sweep.passes += 1
  // Without a total, new calls are no progress: they are added all the time.
  const isProgress = hasNew && (sweep.total ?? sweep.countedTotal) !== undefined
  sweep.idlePasses = isProgress ? 0 : sweep.idlePasses + 1
  // Backwards without a total, a second pass reads the calls that were added during the first.
  const isRead = !hasNew || sweep.passes > 1
  if (isRead && sweep.total === undefined && sweep.direction === -1) return 'complete'
  if (sweep.idlePasses >= (order === 'unknown' ? IDLE_PASSES_UNORDERED : IDLE_PASSES))
    return sweep.total === undefined && sweep.countedTotal !== undefined ? 'complete' : 'incomplete'
  sweep.pass = newPass()
  sweep.stalePages = 0
  sweep.page = sweep.direction === 1 ? 1 : (sweep.lastPage ?? 1)
  return 'continue'
}

function isLastPage(
  { direction, lastPage, readsPastTotal, stalePages }: Sweep,
  page: ListPage,
  order: ListOrder,
): boolean {
  if (direction === -1) return page.page <= 1
  if (page.items === 0) return true
  // A service may show the last page in place of all that follow.
  if (readsPastTotal) return stalePages >= STALE_PAGES_WITH_TOTAL
  if (page.total === undefined || lastPage === undefined || page.page < lastPage) return false
  // If pages are shorter than others, there are more of them than the total says. One more request is less than another pass.
  return order !== 'unknown' || stalePages > 0
}
