import { ownStart, type ListOrder } from './list-order.ts'
import { newOrderAcrossPages, type OrderAcrossPages } from './order-across-pages.ts'
import type { ListPage } from './poll-context.ts'

/**
 * A listing of the whole lookback, page by page, back to the horizon or to the end of the list, over as many polls as it
 * takes. Changed in place.
 */
export type Sweep = {
  /** When it was started (monotonic seconds). */
  readonly startedAt: number
  /** The service's clock and the host's at the answer to its first page (UNIX seconds); undefined before. */
  began: { serviceTime: number; hostTime: number } | undefined
  /** The page to read next, and the direction in which it continues from there. */
  page: number
  direction: 1 | -1
  /** Keys of all items that were seen, including invalid ones, because the service's total counts them. */
  readonly seen: Set<string>
  /** Those that were only seen as invalid items. */
  readonly invalidKeys: Set<string>
  /** The oldest median start of its pages (UNIX seconds). */
  oldest: number
  /** The latest total, and the number of the last page. */
  total: number | undefined
  lastPage: number | undefined
  /** The number of items in the list without a total, as one pass counted them on pages that repeat each other. */
  countedTotal: number | undefined
  /** Pages read so far, and the number of items on the largest one. */
  pagesRead: number
  largestPage: number
  /** A page was wholly older than the horizon. */
  reachedHorizon: boolean
  /** It must continue to the end of the list all the same. */
  mustReachEnd: boolean
  /** The first page that showed nothing new, though the list should continue. */
  truncatedAt: number | undefined
  /** It reads the pages after the last one by the total, until one is empty. */
  readsPastTotal: boolean
  orderAcrossPages: OrderAcrossPages
  /** How many passes have reached the end of the list, and how many of them in a row found nothing new. */
  passes: number
  idlePasses: number
  pass: Pass
  /** The service's clock and the total at the first page of the latest forward pass, and how many calls seen since began later. */
  passBegan: { serviceTime: number; total: number | undefined } | undefined
  addedSince: number
  /** Pages in a row that showed nothing new. */
  stalePages: number
  /** The page before is being read again. */
  isRepeating: boolean
  /** By the last answer the list has shrunk by half: its page is being read again. */
  isConfirmingShrink: boolean
  /** It found new calls that are not at the newest end, where the order allows none. */
  foundMisplaced: boolean
}

/** One reading from one end of the list to the other. */
export type Pass = {
  /** Whether it found calls that are new, though they began before the sweep. */
  hasNew: boolean
  /** On a list without order and total: the keys on its pages, the number of items there, and the last page. */
  readonly keys: Set<string>
  items: number
  lastPage: number
}

export function newPass(): Pass {
  return { hasNew: false, keys: new Set(), items: 0, lastPage: 0 }
}

/** @param start lastPage: of the list, if known */
export function newSweep({
  order,
  lastPage,
  startedAt,
}: {
  order: ListOrder
  lastPage: number | undefined
  startedAt: number
}): Sweep {
  const backwards = order === 'oldest first' && lastPage !== undefined
  return {
    startedAt,
    began: undefined,
    page: backwards ? lastPage : 1,
    direction: backwards ? -1 : 1,
    seen: new Set(),
    invalidKeys: new Set(),
    oldest: Infinity,
    total: undefined,
    lastPage,
    countedTotal: undefined,
    pagesRead: 0,
    largestPage: 0,
    reachedHorizon: false,
    mustReachEnd: false,
    truncatedAt: undefined,
    readsPastTotal: false,
    orderAcrossPages: newOrderAcrossPages(),
    passes: 0,
    idlePasses: 0,
    pass: newPass(),
    passBegan: undefined,
    addedSince: 0,
    stalePages: 0,
    isRepeating: false,
    isConfirmingShrink: false,
    foundMisplaced: false,
  }
}

/** An interrupted sweep continues one page before its next one. */
export function resumeSweep(sweep: Sweep): void {
  if (sweep.began === undefined) return
  sweep.page = Math.max(1, sweep.page - sweep.direction)
  sweep.pagesRead = Math.max(0, sweep.pagesRead - 1)
  sweep.isRepeating = false
}

/** Adds what a page showed, whatever it was read for. */
export function addToSweep(sweep: Sweep, page: ListPage): void {
  const before = sweep.seen.size
  if (page.items !== page.calls.length || sweep.invalidKeys.size > 0) addInvalid(sweep, page)
  const { serviceTime: sweepBegan = Infinity } = sweep.began ?? {}
  const { serviceTime: passBegan = Infinity } = sweep.passBegan ?? {}
  for (const call of page.calls) {
    if (sweep.seen.has(call.id)) continue
    sweep.seen.add(call.id)
    const start = ownStart(call) ?? -Infinity
    sweep.pass.hasNew ||= start <= sweepBegan
    if (start > passBegan) sweep.addedSince += 1
  }
  for (const key of page.keys) sweep.seen.add(key)
  sweep.oldest = Math.min(sweep.oldest, page.medianStart)
  sweep.stalePages = sweep.seen.size > before ? 0 : sweep.stalePages + 1
}

/**
 * How many items of the total of the latest pass no page has shown; undefined without a total. Leaves out calls that were
 * added after the first page of the pass: when the last page of a long list is read, no page may have shown them yet.
 */
export function missingItems({ seen, total, passBegan, addedSince }: Sweep): number | undefined {
  if (total === undefined) return undefined
  return passBegan?.total === undefined ? total - seen.size : Math.max(0, passBegan.total - (seen.size - addedSince))
}

function addInvalid({ seen, invalidKeys }: Sweep, { calls, keys }: ListPage): void {
  const valid = new Set(calls.map(({ id }) => id))
  for (const key of keys) if (!valid.has(key) && !seen.has(key)) invalidKeys.add(key)
  for (const id of valid) invalidKeys.delete(id)
}

/** The list continues after its total: reads on after that page, without the total. */
export function continueWithoutTotal(sweep: Sweep, { page }: ListPage): void {
  sweep.total = undefined
  sweep.lastPage = undefined
  sweep.direction = 1
  sweep.page = page + 1
}

/** The pages up to the last one by the total show nothing new: reads those after it once, until one is empty. */
export function continuePastTotal(sweep: Sweep): void {
  sweep.readsPastTotal = true
  sweep.stalePages = 0
  sweep.direction = 1
  sweep.page = (sweep.lastPage ?? 1) + 1
  sweep.idlePasses -= 1
}

/** Whether new calls are expected on this page: on the newest one, and on any page of a later pass, which looks for them. */
export function isAtNewestEnd({ direction, lastPage = 1, passes }: Sweep, { page }: ListPage): boolean {
  return passes > 0 || (direction === 1 ? page === 1 : page >= lastPage)
}

/** Whether a page was not in this order. A list is read forwards, even oldest first, until its first page shows the order. */
export function isOutOfOrder({ direction, orderAcrossPages }: Sweep, order: ListOrder): boolean {
  return order === 'oldest first' && direction === 1 ? orderAcrossPages.isBelow : orderAcrossPages.isAbove
}

/** The ids that were listed with a valid status. */
export function listedIds({ seen, invalidKeys }: Sweep): ReadonlySet<string> {
  return invalidKeys.size === 0 ? seen : seen.difference(invalidKeys)
}
