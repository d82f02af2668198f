import type { KnownList } from '../../ledger/known-list.ts'
import type { ListedCall } from '../../ledger/observation.ts'
import type { CallPage } from '../../service/calls-client.ts'
import { addRow, hasJoined, hasJoinedWhole, newJoining, type Joining } from './joint.ts'
import { ownStart, addToOrder, newOrderAcrossPages, type OrderAcrossPages } from './list-order.ts'

/** A reading of the list, page by page, from the end where new calls appear. It may take several polls. Changed in place. */
export type Reading = {
  /** When it began (monotonic seconds). */
  readonly startedAt: number
  /** The service's clock and the host's clock when the first page was answered (UNIX seconds); undefined before. */
  began?: { serviceTime: number; hostTime: number }
  readonly end: KnownList['end']
  /** The page to read next. */
  next: number
  /** What it must reach: a joint or the horizon; for a sweep the horizon; or the end of the list. */
  goal: 'joint' | 'horizon' | 'end'
  /** Whether it follows a reading that took longer than a poll, and reads the calls that appeared meanwhile. */
  readonly isSecond: boolean
  /** How many pages that reading read. */
  readonly readBefore: number
  readonly joining: Joining
  readonly rows: Rows
  readonly pages: Pages
  pass: Pass
  readonly order: OrderAcrossPages
  /** Whether a page was older than the horizon. */
  reachedHorizon: boolean
}

/** The rows that the pages have shown. */
export type Rows = {
  /** The keys of all items, and the keys of invalid items. */
  readonly seen: Set<string>
  readonly invalid: Set<string>
  /** The sessions of which it has shown a further call, which may have replaced the row of the one before. */
  readonly replaced: Set<string>
  /** The key of the row that is furthest from where the reading began. */
  last: string
  /** The oldest time by which most calls of a page had begun (UNIX seconds). */
  oldest: number
  /**
   * How many calls were new, and of those that began after the last sweep, how many rows the lowest one was below the newest known
   * row.
   */
  found: number
  lateBy?: number | undefined
}

export type Pages = {
  /** How many calls were requested per page, and the most items that a page had. */
  readonly requested: number
  size: number
  read: number
  /** The highest number of a page with items, and the first and the highest total that such pages had. */
  furthest: number
  /** Those without items, at the last time they were read. */
  readonly empty: Set<number>
  total?: { first: number; most: number } | undefined
  /** The last page that was read in this poll. */
  previous?: PageRead | undefined
  /** The page at which the reading last went back by one, and whether that page was equally short the second time. */
  wentBackAt?: number
  areUneven: boolean
  /** How many of the latest pages mostly repeated the page before them. */
  repeated: number
  /** The number of the last page according to the service. It may be wrong. */
  last?: number | undefined
}

type PageRead = Pick<CallPage, 'page' | 'items' | 'total' | 'keys'>

/** One reading from one end of the list to the other. */
export type Pass = {
  readonly isFirst: boolean
  /** The total number of items on its pages, and the last page that counts. */
  items: number
  furthest?: number
  /** Whether it showed a call that no earlier pass had shown, although the call began before the reading. */
  hasNew: boolean
}

/** What a reading must know about the calls and the list. */
export type Knowledge = {
  /**
   * Whether the latest pages are sorted by time from the start of the reading, and no reading has found the list unsorted.
   */
  isByTime: boolean
  mayEndAtHorizon: boolean
  /** How many rows to read beyond where it joins. */
  overlap: number
  isSettled: (call: ListedCall) => boolean
  /** When the last complete sweep began (UNIX seconds); Infinity before the first one. */
  sweptAt: number
  /** Whether the call was unknown, and counts. */
  isNew: (call: ListedCall) => boolean
  isOlderThanHorizon: (page: CallPage) => boolean
  /** Whether a call of the joint is newer than the horizon. */
  knowsNewer: () => boolean
}

/**
 * Whether the reading needs another page, and if not, what it has reached. `stuck`: the service shows the same page instead
 * of all later pages.
 */
export type Step = 'next page' | 'joint' | 'horizon' | 'end' | 'stuck'

/** After this many pages in a row that repeat the one before, the list only repeats itself. */
const REPEATED_PAGES = 2

type Start = Pick<Reading, 'startedAt' | 'end' | 'goal' | 'isSecond'> & Pick<Pages, 'requested'>

type Options = Start & { list: KnownList | undefined; readBefore?: number }

export function newReading({ list, requested, readBefore = 0, ...start }: Options): Reading {
  return {
    ...start,
    readBefore,
    next: 1,
    joining: newJoining(list),
    rows: { seen: new Set(), invalid: new Set(), replaced: new Set(), last: '', oldest: Infinity, found: 0 },
    pages: { requested, size: 0, read: 0, furthest: 0, empty: new Set(), areUneven: false, repeated: 0 },
    pass: { items: 0, hasNew: false, isFirst: true },
    order: newOrderAcrossPages(),
    reachedHorizon: false,
  }
}

/** Adds the requested page, and decides what the reading needs next. */
export function advance(reading: Reading, page: CallPage, known: Knowledge): Step {
  const { pages } = reading
  const { previous } = pages
  const { rows: rowsBefore } = reading.joining
  addRows(reading, page, known)
  addToPages(pages, page)
  reading.reachedHorizon ||= reachesHorizon(reading, page, known)
  if (previous !== undefined && mustGoBack(reading, page, { previous, rowsBefore })) {
    pages.wentBackAt = page.page
    reading.next = previous.page
    return 'next page'
  }
  reading.next = page.page + inwards(reading)
  return stepAfter(reading, page, known)
}

/** In a list sorted by time, known calls that are newer than the horizon come before older calls. */
function reachesHorizon({ order, joining }: Reading, page: CallPage, known: Knowledge): boolean {
  if (!known.isByTime || !known.mayEndAtHorizon || !known.isOlderThanHorizon(page)) return false
  order.isBroken ||= joining.firstAt === undefined && known.knowsNewer()
  return !order.isBroken
}

/** The direction from a page to the next page of a reading. */
export function inwards({ end }: Reading): 1 | -1 {
  return end === 'first' ? 1 : -1
}

function stepAfter(reading: Reading, page: CallPage, known: Knowledge): Step {
  const isLast = reading.end === 'first' ? page.items === 0 : page.page <= 1
  if (isLast && hasSeenAll(reading, known)) return 'end'
  const reached = reachedGoal(reading, page.items < reading.pages.requested, known)
  if (reached !== undefined) return reached
  // A reading that starts at the last page has further pages, even if the last page is shown instead of them.
  const isRepeated = reading.pages.repeated >= REPEATED_PAGES && reading.end === 'first'
  if (isRepeated && page.items >= reading.pages.requested) return 'stuck'
  return isRepeated || isLast ? endPass(reading, known) : 'next page'
}

function reachedGoal(
  { goal, joining, reachedHorizon }: Reading,
  isShort: boolean,
  { isByTime, overlap }: Knowledge,
): Step | undefined {
  if (goal === 'joint' && isShort && hasJoinedWhole(joining)) return 'joint'
  if (goal === 'joint' && isByTime && hasJoined(joining, reachedHorizon ? 0 : overlap)) return 'joint'
  return goal !== 'end' && reachedHorizon ? 'horizon' : undefined
}

/**
 * Whether some rows may be on neither of two pages, so that the first page is read again, once. This happens if a row above
 * was deleted, if an answer is older than the one before, or if a page is shorter than others.
 */
function mustGoBack(
  reading: Reading,
  { page, items, total }: CallPage,
  { previous, rowsBefore }: { previous: PageRead; rowsBefore: number },
): boolean {
  const { pages, end, goal, joining } = reading
  if (previous.page !== page - inwards(reading) || pages.wentBackAt === page) return false
  // Nothing shows that no rows are missing before the joint.
  const joinsAtEdge = goal === 'joint' && end === 'first' && joining.joinedAt === rowsBefore
  return joinsAtEdge || (total ?? Infinity) < (previous.total ?? 0) || wasShort(reading, previous.items, items)
}

/** A list that is read from its last page starts with a short page. And some services leave rows out of each page. */
function wasShort({ end, pages }: Reading, before: number, items: number): boolean {
  const isFirst = end === 'last' && pages.read === 2
  return items > 0 && before < Math.max(pages.size, items) && !isFirst && !pages.areUneven
}

function addRows(reading: Reading, page: CallPage, known: Knowledge): void {
  const { rows, pass, end } = reading
  const { serviceTime, hostTime, items, calls } = page
  reading.began ??= { serviceTime, hostTime }
  const isAgain = isReadAgain(reading, page)
  const leadsOn = !rows.seen.has(innermost(reading, page))
  const unseen = (end === 'first' ? calls : calls.toReversed()).filter(({ id }) => !rows.seen.has(id))
  if (items !== calls.length || rows.invalid.size > 0) addInvalid(rows, page)
  const placed = unseen.filter((call) => !cameInMeanwhile(reading, call, serviceTime))
  const starts = placed.flatMap((call) => ownStart(call) ?? [])
  addSeen(rows, unseen)
  rows.found += unseen.filter(known.isNew).length
  rows.oldest = Math.min(rows.oldest, medianOf(starts))
  pass.hasNew ||= placed.length > 0
  if (pass.isFirst && !isAgain) {
    addToOrder(reading.order, starts)
    for (const call of placed) addToJoining(reading, call, known)
  }
  if (!isAgain && items > 0) {
    rows.last = innermost(reading, page)
    addToPass(reading, page, leadsOn)
  }
}

function addSeen({ seen, replaced }: Rows, calls: readonly ListedCall[]): void {
  for (const { id, session = id } of calls) {
    seen.add(id)
    if (session !== id) replaced.add(session)
  }
}

function innermost({ end }: Reading, { keys }: CallPage): string {
  return keys.at(end === 'first' ? -1 : 0) ?? ''
}

function addToPass({ pass, pages }: Reading, page: CallPage, leadsOn: boolean): void {
  pass.items += page.items
  pass.furthest = page.page
  pages.repeated = !leadsOn && repeats(page, pages.previous) ? pages.repeated + 1 : 0
}

function isReadAgain(reading: Reading, { page }: CallPage): boolean {
  const { furthest } = reading.pass
  return furthest !== undefined && (page - furthest) * inwards(reading) <= 0
}

/** It has moved the rows after it: the next reading joins them. */
function cameInMeanwhile({ began }: Reading, call: ListedCall, serviceTime: number): boolean {
  const start = ownStart(call)
  return start !== undefined && start > began!.serviceTime && start <= serviceTime
}

function addToJoining({ rows, joining }: Reading, call: ListedCall, known: Knowledge): void {
  addRow(joining, call.id, known.isSettled(call))
  // One that began before the last sweep may have been there: the sweep missed it, or it is open again.
  const mayBeLate = (ownStart(call) ?? Infinity) >= known.sweptAt && known.isNew(call)
  if (mayBeLate && joining.firstAt !== undefined)
    rows.lateBy = Math.max(rows.lateBy ?? 0, joining.rows - joining.firstAt)
}

function addToPages(pages: Pages, page: CallPage): void {
  const { items, total, keys } = page
  if (pages.wentBackAt === pages.previous?.page) pages.areUneven ||= items < pages.size
  pages.size = Math.max(pages.size, items)
  pages.last = lastPageBy(page, pages.size) ?? pages.last
  pages.read += 1
  if (items === 0) pages.empty.add(page.page)
  else addToFurthest(pages, page)
  pages.previous = { page: page.page, items, total, keys }
}

function addToFurthest(pages: Pages, { page, total }: CallPage): void {
  pages.empty.delete(page)
  pages.furthest = Math.max(pages.furthest, page)
  const { first = total, most = total } = pages.total ?? {}
  if (total !== undefined) pages.total = { first: first!, most: Math.max(most!, total) }
}

/** Whether most of a page was on the previous page, although fewer calls have appeared since. */
function repeats({ keys, items, total = 0 }: CallPage, previous: PageRead | undefined): boolean {
  if (total - (previous?.total ?? total) > items / 2) return false
  const before = new Set(previous?.keys)
  return keys.filter((key) => before.has(key)).length > items / 2
}

function addInvalid({ seen, invalid }: Rows, { calls, keys }: CallPage): void {
  const valid = new Set(calls.map(({ id }) => id))
  for (const key of keys) if (!valid.has(key) && !seen.has(key)) invalid.add(key)
  for (const key of keys) if (!valid.has(key)) seen.add(key)
  for (const id of valid) invalid.delete(id)
}

/**
 * What follows when the other end of the list is reached. If the list is sorted by time, everything was seen. Otherwise pages
 * may have shown some rows twice and others never, so the list is read again until as many rows were seen as its pages have,
 * or until a pass finds nothing new.
 */
function endPass(reading: Reading, known: Knowledge): Step {
  const { pass } = reading
  if (hasSeenAll(reading, known) || !pass.hasNew) return 'end'
  reading.pass = { items: 0, hasNew: false, isFirst: false }
  reading.next = 1
  return 'next page'
}

/** New calls do not move the rows of a list that is read from its last page. */
function hasSeenAll({ order, end, rows, pass }: Reading, { isByTime }: Knowledge): boolean {
  return (isByTime && !order.isBroken) || end === 'last' || rows.seen.size >= pass.items
}

/** A service that counts only up to a limit has a limit that is a multiple of this. */
const COUNTED_AT_MOST = 1000

/**
 * The number of the last page according to the service. Undefined if the total is always 0, or may be a limit of counting.
 */
export function lastPageBy({ total, totalPages }: CallPage, size: number): number | undefined {
  if (total !== undefined && !isCount(total)) return undefined
  return total === undefined || size === 0 ? totalPages : Math.max(Math.ceil(total / size), 1)
}

/** Whether the service counts all calls: its total is not always 0, and is not a limit of counting. */
export function isCount(total: number | undefined): total is number {
  return total !== undefined && total % COUNTED_AT_MOST !== 0
}

/** The ids that were listed with a valid status. */
export function listedIds({ seen, invalid }: Rows): ReadonlySet<string> {
  return invalid.size === 0 ? seen : seen.difference(invalid)
}

function medianOf(times: readonly number[]): number {
  return new Float64Array(times).toSorted()[times.length >> 1] ?? Infinity
}
