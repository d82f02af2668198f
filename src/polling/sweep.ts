import type { ListOrder } from './list-order.ts'
import type { ListPage } from './page-reader.ts'
import { newPlaces, notePlace, type Places } from './places.ts'
import { hasShrunk } from './shrunk-list.ts'

/**
 * A reading of the list page by page, back to the horizon or to the end, over as many polls as it takes. Lives from its
 * first page to its end, and is changed in place meanwhile.
 */
export type Sweep = {
  /** When it was begun (monotonic seconds). */
  readonly startedAt: number
  /** The service's clock and the host's when its first page was answered (UNIX seconds); undefined before. */
  began: { now: number; host: number } | undefined
  /** The page to be read next, and in which direction it goes on from there. */
  page: number
  direction: 1 | -1
  /** Keys of the items that were seen, unusable ones included: as many as the service's total means all. */
  readonly seen: Set<string>
  /** Those of them that were seen in a form that cannot be used only. */
  readonly unusable: Set<string>
  /** When the calls of the oldest page among them began, half of them later (UNIX seconds). */
  oldest: number
  /** The total that the service said last, and the number of the last page. */
  total: number | undefined
  lastPage: number | undefined
  /** Of a list without order and total: the keys on the pages of this pass, how many items they had, and the deepest of them. */
  pass: Set<string>
  shown: number
  deepest: number
  /** As many items a pass has found on pages that repeat each other: it stands for the total. */
  counted: number | undefined
  /** Pages read so far, and how many items the largest one had. */
  done: number
  largest: number
  /** It has read a page that lies wholly before all that it has to see. */
  past: boolean
  /** It must go on to the end of the list all the same. */
  toEnd: boolean
  /** The page, before the last one by the total, that was empty. */
  cutAt: number | undefined
  /** It follows the pages to an empty one, past the last one by the total. */
  toEmpty: boolean
  /** Where its pages were, by the times of their calls. */
  places: Places
  /** Ends of the list that were reached so far, and how many of them in a row brought nothing new. */
  passes: number
  idlePasses: number
  /** Whether this pass has brought anything new, and how many pages in a row have not. */
  news: boolean
  stalePages: number
  /** Whether the page before is being read again. */
  again: boolean
  /** The last answer said that the list has shrunk by half: its page is being read again. */
  isDoubtful: boolean
  /** It has found new calls behind the newest page, where the order has none. */
  misplaced: boolean
}

/**
 * How a sweep goes on after a page: with another one; `past`, it may end before the end of the list; `complete`; `short`,
 * it has seen what it has to, and from here on the list shows nothing, whatever its total; `stuck` where no further page helps.
 */
export type SweepProgress = 'on' | 'past' | 'complete' | 'short' | 'stuck'

/** Passes in a row that may bring nothing new before a sweep is given up: a shuffled list shows its last items late. */
const IDLE_PASSES = 2
const IDLE_PASSES_UNORDERED = 8
/** Pages in a row that only repeat, after which a list is taken to go round in circles. */
const STALE_PAGES = 3
/** With a total they may have moved: so many calls came in meanwhile. */
const STALE_PAGES_OF_TOTAL = 10
/** So much of what was seen a pass shows again of a list that only overlaps; of a shuffled one it is less. */
const SHOWN_AGAIN = 0.9

export type SweepStart = { order: ListOrder; lastPage: number | undefined; startedAt: number }

/** @param start lastPage: of the list, as far as it is known */
export function newSweep({ order, lastPage, startedAt }: SweepStart): Sweep {
  const backwards = order === 'oldest first' && lastPage !== undefined
  return {
    startedAt,
    began: undefined,
    page: backwards ? lastPage : 1,
    direction: backwards ? -1 : 1,
    seen: new Set(),
    unusable: new Set(),
    oldest: Infinity,
    total: undefined,
    lastPage,
    pass: new Set(),
    shown: 0,
    deepest: 0,
    counted: undefined,
    done: 0,
    largest: 0,
    past: false,
    toEnd: false,
    cutAt: undefined,
    toEmpty: false,
    places: newPlaces(),
    passes: 0,
    idlePasses: 0,
    news: false,
    stalePages: 0,
    again: false,
    isDoubtful: false,
    misplaced: false,
  }
}

/** A sweep that was cut goes on with the page before the one at which it was. */
export function resumeSweep(sweep: Sweep): void {
  if (sweep.began === undefined) return
  sweep.page = Math.max(1, sweep.page - sweep.direction)
  sweep.done = Math.max(0, sweep.done - 1)
  sweep.again = false
}

/** Adds what a page showed, which may have been read for another reason. */
export function addToSweep(sweep: Sweep, page: ListPage): void {
  const before = sweep.seen.size
  if (page.items !== page.calls.length || sweep.unusable.size > 0) noteUnusable(sweep, page)
  for (const key of page.keys) sweep.seen.add(key)
  sweep.oldest = Math.min(sweep.oldest, page.middle)
  const isNews = sweep.seen.size > before
  sweep.news ||= isNews
  sweep.stalePages = isNews ? 0 : sweep.stalePages + 1
}

function noteUnusable({ seen, unusable }: Sweep, { calls, keys }: ListPage): void {
  const usable = new Set(calls.map(({ id }) => id))
  for (const key of keys) if (!usable.has(key) && !seen.has(key)) unusable.add(key)
  for (const id of usable) unusable.delete(id)
}

/** The list goes on behind its total: what follows the page that showed it is read to the end. */
export function goOnWithoutTotal(sweep: Sweep, { page }: ListPage): void {
  sweep.total = undefined
  sweep.lastPage = undefined
  sweep.direction = 1
  sweep.page = page + 1
}

/** No page up to the last one by the total brings anything new: what is behind it is read once, to an empty page. */
export function followToEmpty(sweep: Sweep): void {
  sweep.toEmpty = true
  sweep.direction = 1
  sweep.page = (sweep.lastPage ?? 1) + 1
  sweep.idlePasses -= 1
}

/** Whether a page that the sweep asked for is the one where the newest calls are. Later passes are there to see those that came in meanwhile. */
export function isAtNewestEnd({ direction, lastPage = 1, passes }: Sweep, { page }: ListPage): boolean {
  return passes > 0 || (direction === 1 ? page === 1 : page >= lastPage)
}

/** Whether a page came out of this order. A list whose order its first page has not shown is read forwards, also oldest first. */
export function isOutOfOrder({ direction, places }: Sweep, order: ListOrder): boolean {
  return order === 'oldest first' && direction === 1 ? places.isBelow : places.isAbove
}

/** Ids that were listed with a usable status. */
export function listedIn({ seen, unusable }: Sweep): ReadonlySet<string> {
  return unusable.size === 0 ? seen : seen.difference(unusable)
}

/**
 * Takes the page that the sweep asked for, and decides how it goes on. The next page is chosen in any case: a sweep that
 * may end goes on with it where it must.
 *
 * @param order as known after this page
 * @param isPast whether a page lies wholly before all that the sweep has to see
 */
export function advanceSweep(
  sweep: Sweep,
  page: ListPage,
  order: ListOrder,
  isPast: (page: ListPage) => boolean,
): SweepProgress {
  if (hasShrunk(page.total ?? Infinity, sweep.total ?? 0)) {
    // What was seen was of another list, and does not count towards this one's total. One answer alone may be wrong.
    if (sweep.isDoubtful) beginAnew(sweep, page, order)
    else sweep.isDoubtful = true
    return 'on'
  }
  sweep.isDoubtful = false
  const shrunk = sweep.total !== undefined && page.total !== undefined && page.total < sweep.total
  if (sweep.passes === 0 && !sweep.again) {
    const unseen = page.calls.filter(({ id }) => !sweep.seen.has(id))
    notePlace(sweep.places, sweep.direction === 1 ? unseen : unseen.toReversed())
  }
  addToSweep(sweep, page)
  if (order === 'unknown' && page.total === undefined) addToPass(sweep, page)
  sweep.began ??= { now: page.now, host: page.host }
  sweep.total = page.total
  sweep.lastPage = page.lastPage ?? sweep.lastPage
  sweep.done += 1
  sweep.largest = Math.max(sweep.largest, page.items)

  const isInOrder = order === (sweep.direction === 1 ? 'newest first' : 'oldest first')
  const isLast = isLastPage(sweep, page)
  const total = page.total ?? sweep.counted
  if (total !== undefined && sweep.seen.size >= total) {
    // Of a list in order, calls that came in while it was read make up the number before the last page is read.
    if (!isInOrder || sweep.passes > 0 || isLast) return 'complete'
  } else if (page.items === 0 && sweep.direction === 1) {
    if (page.total === undefined && isAllOf(sweep, page, order)) return 'complete'
    if (page.page < (page.lastPage ?? 0)) sweep.cutAt = page.page
    if (sweep.cutAt !== undefined && sweep.past) return 'short'
  }
  if (isInOrder && isPast(page)) sweep.past = true

  if (sweep.done === 1 && sweep.direction === 1 && order === 'oldest first' && sweep.lastPage !== undefined) {
    // Its first page has shown that the newest calls are at the other end.
    sweep.direction = -1
    sweep.page = sweep.lastPage
    sweep.places = newPlaces()
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
  const isBeforeEnd = sweep.counted !== undefined && page.page < (sweep.lastPage ?? 0)
  const repeats = page.total === undefined ? repeatable(sweep, order) : STALE_PAGES_OF_TOTAL
  const goesRound = sweep.stalePages >= repeats && !isBeforeEnd
  if (goesRound && sweep.past && !isLast) return 'short'
  if (goesRound && page.total === undefined) sweep.cutAt = page.page - repeats + 1
  if (isKnownFromHere || (goesRound && page.total === undefined) || isLast) return endPass(sweep, order)
  sweep.page = page.page + sweep.direction
  return sweep.past && !sweep.toEnd ? 'past' : 'on'
}

/** Pages in a row that may repeat without a total. Where the order changes, all that was seen may come once more. */
function repeatable({ seen, largest }: Sweep, order: ListOrder): number {
  return STALE_PAGES + (order === 'unknown' ? Math.ceil(seen.size / Math.max(1, largest)) : 0)
}

/** Forgets what it has seen, but not why it is read nor how much reading it took. */
function beginAnew(sweep: Sweep, { lastPage }: ListPage, order: ListOrder): void {
  const { startedAt, done, toEnd } = sweep
  Object.assign(sweep, newSweep({ order, lastPage, startedAt }), { done, toEnd })
}

/** A page that is read again says nothing of how many there are. */
function addToPass(sweep: Sweep, { page, keys }: ListPage): void {
  if (page <= sweep.deepest) return
  for (const key of keys) sweep.pass.add(key)
  sweep.shown += keys.length
  sweep.deepest = page
}

/**
 * Whether a list of which no total is known was seen as a whole, now that a page is empty. Where pages have repeated each
 * other and there is no order, it may be shuffled: then it has as many items as they had.
 */
function isAllOf(sweep: Sweep, { page }: ListPage, order: ListOrder): boolean {
  if (order !== 'unknown' || sweep.shown === sweep.pass.size) return true
  if (sweep.passes > 0 && !sweep.news && sweep.pass.size >= sweep.seen.size * SHOWN_AGAIN) return true
  sweep.counted = sweep.shown
  sweep.lastPage = page
  return sweep.seen.size >= sweep.counted
}

function endPass(sweep: Sweep, order: ListOrder): SweepProgress {
  sweep.passes += 1
  // Without a number of items to be seen, calls that came in meanwhile bring it no nearer: they come all the time.
  const isNearer = sweep.news && (sweep.total ?? sweep.counted) !== undefined
  sweep.idlePasses = isNearer ? 0 : sweep.idlePasses + 1
  // Backwards it has read the calls that came in meanwhile as well.
  const isRead = !sweep.news || sweep.passes > 1
  if (isRead && sweep.total === undefined && sweep.direction === -1) return 'complete'
  if (sweep.idlePasses >= (order === 'unknown' ? IDLE_PASSES_UNORDERED : IDLE_PASSES))
    return sweep.total === undefined && sweep.counted !== undefined ? 'complete' : 'stuck'
  sweep.news = false
  sweep.pass = new Set()
  sweep.shown = 0
  sweep.deepest = 0
  sweep.stalePages = 0
  sweep.page = sweep.direction === 1 ? 1 : (sweep.lastPage ?? 1)
  return 'on'
}

function isLastPage({ direction, lastPage, toEmpty }: Sweep, page: ListPage): boolean {
  if (direction === -1) return page.page <= 1
  if (toEmpty) return page.items === 0
  return page.items === 0 || (page.total !== undefined && lastPage !== undefined && page.page >= lastPage)
}
