/**
 * Whether a reading finds the list in order from one page to the next, by when the calls began: it reads from the newest
 * inwards, so no later page goes back to newer calls. Changed in place.
 */
export type OrderAcrossPages = {
  /** Most calls of some page began before this (UNIX seconds). */
  bound: number
  /** How many calls in a row, up to the last one, began long after the bound. */
  above: number
  /** Whether a later page was above. */
  isBroken: boolean
  /** Start times on pages with too few calls to decide. */
  pending: readonly number[]
}

/** Fewer calls do not show where a page is: they are added to those of the next page. */
const MIN_CALLS = 5
/** More calls in a row that are so far beyond most of an earlier page are no wrong dates: new calls may be there as well. */
const MAX_IN_A_ROW = 3
const FAR_SECONDS = 600

export function newOrderAcrossPages(): OrderAcrossPages {
  return { bound: Infinity, above: 0, isBroken: false, pending: [] }
}

/**
 * Adds the next page: its median must not be above most of an earlier page, nor a few calls in a row far above it. Single
 * calls with a wrong date are tolerated.
 *
 * @param starts when the calls began that no earlier page has shown (UNIX seconds), from the newest end inwards
 */
export function addToOrder(order: OrderAcrossPages, starts: readonly number[]): void {
  for (const start of starts) {
    order.above = start > order.bound + FAR_SECONDS ? order.above + 1 : 0
    order.isBroken ||= order.above > MAX_IN_A_ROW
  }
  const times = Float64Array.from([...order.pending, ...starts]).toSorted()
  const isEnough = times.length >= MIN_CALLS
  order.pending = isEnough ? [] : [...times]
  if (!isEnough) return
  const at = (share: number) => times[Math.floor(times.length * share)]!
  order.isBroken ||= at(0.5) > order.bound
  order.bound = Math.min(order.bound, at(0.85))
}
