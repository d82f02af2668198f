import type { KnownList } from '../../ledger/known-list.ts'
import type { ListedCall } from '../../ledger/observation.ts'
import type { CallPage } from '../../service/calls-client.ts'
import { addRow, hasJoined, hasJoinedWhole, newJoining, type Joining } from './joint.ts'
import { ownStart } from './list-order.ts'
import { addToOrder, newOrderAcrossPages, type OrderAcrossPages } from './order-across-pages.ts'

/** A reading of the list, page by page, from the end at which calls come in, over as many polls as it takes. Changed in place. */
export type Reading = {
  /** When it was started (monotonic seconds). */
  readonly startedAt: number
  /** The service's clock and the host's at the answer to its first page (UNIX seconds); undefined before. */
  began: { serviceTime: number; hostTime: number } | undefined
  readonly end: KnownList['end']
  /** The page to read next. */
  next: number
  /** What it must reach: a joint, or the horizon, is enough; a sweep reads on to the horizon; or to the end of the list. */
  goal: 'joint' | 'horizon' | 'end'
  /** It follows a reading that took longer than a poll, and shows what came in meanwhile. */
  readonly isSecond: boolean
  readonly joining: Joining
  readonly rows: Rows
  readonly pages: Pages
  pass: Pass
  readonly order: OrderAcrossPages
  /** A page was wholly older than the horizon. */
  reachedHorizon: boolean
}

/** What the pages have shown. */
export type Rows = {
  /** Keys of all items, and of those that were invalid on each page. */
  readonly seen: Set<string>
  readonly invalid: Set<string>
  /** The oldest time at which most calls of a page had begun (UNIX seconds). */
  oldest: number
  /** How many new calls; and how many rows below the newest known one some of them were that began after the last sweep, at most. */
  found: number
  lateBy: number | undefined
}

export type Pages = {
  /** Calls requested in one page, and the most items that a page had. */
  readonly requested: number
  size: number
  read: number
  /** The last one that was read in this poll. */
  previous: PageRead | undefined
  /** The page at which it last went back to the one before, and whether that was as short the second time. */
  wentBackAt: number | undefined
  areUneven: boolean
  /** How many of them, up to the last one, mostly repeated the one before. */
  repeated: number
  /** The number of the last page, as the service says; it may be wrong. */
  last: number | undefined
}

type PageRead = Pick<CallPage, 'page' | 'items' | 'total' | 'keys'>

/** One reading from one end of the list to the other. */
export type Pass = {
  readonly isFirst: boolean
  /** How many items its pages had, and the last one that counts. */
  items: number
  furthest: number | undefined
  /** It showed a call that no pass before had, though it began before the reading. */
  hasNew: boolean
}

/** What a reading must know of the calls and the list. */
export type Facts = {
  /** Whether the latest pages are in order of time, from the end of the reading; and whether no reading found otherwise of the list. */
  isByTime: boolean
  mayEndAtHorizon: boolean
  /** How many rows it must read from where it joins. */
  overlap: number
  isSettled: (call: ListedCall) => boolean
  /** When the last complete sweep began (UNIX seconds); Infinity before the first one. */
  sweptAt: number
  /** Whether the call was not known, and counts. */
  isNew: (call: ListedCall) => boolean
  isOlderThanHorizon: (page: CallPage) => boolean
  /** Whether a call of the joint is newer than the horizon. */
  knowsNewer: () => boolean
}

/** Whether it needs another page, and if not, what it has reached. `stuck`: the service shows the same page in place of all that follow. */
export type Step = 'next page' | 'joint' | 'horizon' | 'end' | 'stuck'

/** Pages in a row that repeat the one before, after which the list only repeats itself. */
const REPEATED_PAGES = 2
export function newReading(made: {
  list: KnownList | undefined
  end: KnownList['end']
  goal: Reading['goal']
  isSecond: boolean
  startedAt: number
  requested: number
}): Reading {
  const { list, requested, ...fields } = made
  return {
    ...fields,
    began: undefined,
    next: 1,
    joining: newJoining(list),
    rows: { seen: new Set(), invalid: new Set(), oldest: Infinity, found: 0, lateBy: undefined },
    pages: {
      requested,
      size: 0,
      read: 0,
      previous: undefined,
      wentBackAt: undefined,
      areUneven: false,
      repeated: 0,
      last: undefined,
    },
    pass: { items: 0, furthest: undefined, hasNew: false, isFirst: true },
    order: newOrderAcrossPages(),
    reachedHorizon: false,
  }
}

/** Adds the page that the reading asked for, and decides what it needs next. */
export function advance(reading: Reading, page: CallPage, facts: Facts): Step {
  const { pages } = reading
  const { previous } = pages
  const { rows: rowsBefore } = reading.joining
  addRows(reading, page, facts)
  addToPages(pages, page)
  reading.reachedHorizon ||= reachesHorizon(reading, page, facts)
  if (previous !== undefined && mustGoBack(reading, page, { previous, rowsBefore })) {
    pages.wentBackAt = page.page
    reading.next = previous.page
    return 'next page'
  }
  reading.next = page.page + inwards(reading)
  return stepAfter(reading, page, facts)
}

/** In a list by time, what is known and newer than the horizon comes before what is older. */
function reachesHorizon({ order, joining }: Reading, page: CallPage, facts: Facts): boolean {
  if (!facts.isByTime || !facts.mayEndAtHorizon || !facts.isOlderThanHorizon(page)) return false
  order.isBroken ||= joining.firstAt === undefined && facts.knowsNewer()
  return !order.isBroken
}

/** From a page to the one that follows in a reading. */
export function inwards({ end }: Reading): 1 | -1 {
  return end === 'first' ? 1 : -1
}

function stepAfter(reading: Reading, page: CallPage, facts: Facts): Step {
  const isLast = reading.end === 'first' ? page.items === 0 : page.page <= 1
  if (isLast && hasSeenAll(reading, facts)) return 'end'
  const reached = reachedGoal(reading, page.items < reading.pages.requested, facts)
  if (reached !== undefined) return reached
  // Read from its last page, the list has others before those in place of which that one is shown.
  const isRepeated = reading.pages.repeated >= REPEATED_PAGES && reading.end === 'first'
  if (isRepeated && page.items >= reading.pages.requested) return 'stuck'
  return isRepeated || isLast ? endPass(reading, facts) : 'next page'
}

function reachedGoal(
  { goal, joining, reachedHorizon }: Reading,
  isShort: boolean,
  { isByTime, overlap }: Facts,
): Step | undefined {
  if (goal === 'joint' && isShort && hasJoinedWhole(joining)) return 'joint'
  if (goal === 'joint' && isByTime && hasJoined(joining, reachedHorizon ? 0 : overlap)) return 'joint'
  return goal !== 'end' && reachedHorizon ? 'horizon' : undefined
}

/**
 * Whether rows may be on neither of two pages, so that the first one is read again, once: a row above was deleted, an answer is
 * older than the one before, or a page is shorter than others.
 */
function mustGoBack(
  reading: Reading,
  { page, items, total }: CallPage,
  { previous, rowsBefore }: { previous: PageRead; rowsBefore: number },
): boolean {
  const { pages, end, goal, joining } = reading
  if (previous.page !== page - inwards(reading) || pages.wentBackAt === page) return false
  // Nothing shows that the rows before the joint are all that there are.
  const joinsAtEdge = goal === 'joint' && end === 'first' && joining.joinedAt === rowsBefore
  return joinsAtEdge || (total ?? Infinity) < (previous.total ?? 0) || wasShort(reading, previous.items, items)
}

/** A list that is read from its last page begins with a short one; and some services leave rows out of each page. */
function wasShort({ end, pages }: Reading, before: number, items: number): boolean {
  const isFirst = end === 'last' && pages.read === 2
  return items > 0 && before < Math.max(pages.size, items) && !isFirst && !pages.areUneven
}

function addRows(reading: Reading, page: CallPage, facts: Facts): void {
  const { rows, pass, end } = reading
  const { serviceTime, hostTime, items, calls } = page
  reading.began ??= { serviceTime, hostTime }
  const isAgain = isReadAgain(reading, page)
  const leadsOn = !rows.seen.has(innermost(reading, page))
  const unseen = (end === 'first' ? calls : calls.toReversed()).filter(({ id }) => !rows.seen.has(id))
  if (items !== calls.length || rows.invalid.size > 0) addInvalid(rows, page)
  const placed = unseen.filter((call) => !cameInMeanwhile(reading, call, serviceTime))
  const starts = placed.flatMap((call) => ownStart(call) ?? [])
  for (const call of unseen) rows.seen.add(call.id)
  rows.found += unseen.filter(facts.isNew).length
  rows.oldest = Math.min(rows.oldest, medianOf(starts))
  pass.hasNew ||= placed.length > 0
  if (pass.isFirst && !isAgain) {
    addToOrder(reading.order, starts)
    for (const call of placed) addToJoining(reading, call, facts)
  }
  if (!isAgain && items > 0) addToPass(reading, page, leadsOn)
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

function addToJoining({ rows, joining }: Reading, call: ListedCall, facts: Facts): void {
  addRow(joining, call.id, facts.isSettled(call))
  // One that began before the last sweep may have been there: the sweep missed it, or it is open again.
  const mayBeLate = (ownStart(call) ?? Infinity) >= facts.sweptAt && facts.isNew(call)
  if (mayBeLate && joining.firstAt !== undefined)
    rows.lateBy = Math.max(rows.lateBy ?? 0, joining.rows - joining.firstAt)
}

function addToPages(pages: Pages, page: CallPage): void {
  const { items, total, keys } = page
  if (pages.wentBackAt === pages.previous?.page) pages.areUneven ||= items < pages.size
  pages.size = Math.max(pages.size, items)
  pages.last = lastPageBy(page, pages.size) ?? pages.last
  pages.read += 1
  pages.previous = { page: page.page, items, total, keys }
}

/** Whether most of a page was on the one before it, though not so many calls have come in since. */
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
 * What follows at the other end of the list. In a list by time, all was seen. In another, pages may have shown some rows twice and
 * others not at all: it is read again until as many were seen as its pages have, or nothing new comes any more.
 */
function endPass(reading: Reading, facts: Facts): Step {
  const { pass } = reading
  if (hasSeenAll(reading, facts) || !pass.hasNew) return 'end'
  reading.pass = { items: 0, furthest: undefined, hasNew: false, isFirst: false }
  reading.next = 1
  return 'next page'
}

/** A list that is read from its last page does not move while it is read. */
function hasSeenAll({ order, end, rows, pass }: Reading, { isByTime }: Facts): boolean {
  return (isByTime && !order.isBroken) || end === 'last' || rows.seen.size >= pass.items
}

/** No service that counts up to a limit has another one. */
const COUNTED_AT_MOST = 1000

/** The number of the list's last page, as the service says; undefined if it always says 0, or may have counted up to a limit. */
export function lastPageBy({ total, totalPages }: CallPage, size: number): number | undefined {
  if (total !== undefined && total % COUNTED_AT_MOST === 0) return undefined
  return total === undefined || size === 0 ? totalPages : Math.max(Math.ceil(total / size), 1)
}

/** The ids that were listed with a valid status. */
export function listedIds({ seen, invalid }: Rows): ReadonlySet<string> {
  return invalid.size === 0 ? seen : seen.difference(invalid)
}

function medianOf(times: readonly number[]): number {
  return Float64Array.from(times).toSorted()[times.length >> 1] ?? Infinity
}
