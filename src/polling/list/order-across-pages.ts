/**
 * Whether a reading finds the list sorted across pages, by when the calls began. The reading starts at the newest calls, so a
 * later page never has newer calls than an earlier one. Changed in place.
 */
export type OrderAcrossPages = {
  /** Most calls of some page began before this time (UNIX seconds). */
  bound: number
  /** How many of the latest calls in a row began long after the bound. */
  above: number
  /** Whether a later page was newer than the bound allows. */
  isBroken: boolean
  /** Start times on pages that have too few calls to decide. */
  pending: readonly number[]
}

/** Fewer calls do not show where a page belongs, so they are added to the next page. */
const MIN_CALLS = 5
/**
 * If more calls in a row are that much newer than most of an earlier page, their dates are not wrong: new calls may be there
 * too.
 */
const MAX_IN_A_ROW = 3
const FAR_SECONDS = 600

export function newOrderAcrossPages(): OrderAcrossPages {
  return { bound: Infinity, above: 0, isBroken: false, pending: [] }
}

/**
 * Adds the next page. Its median must not be newer than most of an earlier page, and only a few calls in a row may be far
 * newer. Single calls with a wrong date are tolerated.
 *
 * @param starts when the calls that no earlier page has shown began (UNIX seconds), from the newest end inwards
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
