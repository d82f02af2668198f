import type { ListedCall } from '../ledger/observation.ts'
import { ownStart } from './list-order.ts'

/**
 * Whether a sweep finds the list in order from one page to the next, by when the calls began. In a list in order, no later
 * page goes back beyond an earlier one: towards newer calls, or, read forwards from the oldest, towards older ones.
 * Changed in place.
 */
export type OrderAcrossPages = {
  /** Most calls of some page began before this, and most of some page after this (UNIX seconds). */
  upperBound: number
  lowerBound: number
  /** How many calls in a row, up to the last one, are far above the upper bound or below the lower bound. */
  above: number
  below: number
  /** Whether a later page was above or below. */
  isAbove: boolean
  isBelow: boolean
  /** Start times on pages with too few calls to decide. */
  pending: readonly number[]
}

/** Fewer calls do not show where a page is: they are added to those of the next page. */
const MIN_CALLS = 5
/** More calls in a row that are so far beyond most of an earlier page are no wrong dates: new calls may be there as well. */
const MAX_IN_A_ROW = 3
const FAR_SECONDS = 600

export function newOrderAcrossPages(): OrderAcrossPages {
  return {
    upperBound: Infinity,
    lowerBound: -Infinity,
    above: 0,
    below: 0,
    isAbove: false,
    isBelow: false,
    pending: [],
  }
}

/**
 * Adds the next page: its median must not be beyond most of an earlier page, nor a few calls in a row far beyond it.
 * Single calls with a wrong date are tolerated.
 *
 * @param calls those that no earlier page has shown, in the direction of the sweep
 */
export function addToOrder(order: OrderAcrossPages, calls: readonly ListedCall[]): void {
  for (const call of calls) {
    const start = ownStart(call)
    if (start === undefined) continue
    order.above = start > order.upperBound + FAR_SECONDS ? order.above + 1 : 0
    order.below = start < order.lowerBound - FAR_SECONDS ? order.below + 1 : 0
    order.isAbove ||= order.above > MAX_IN_A_ROW
    order.isBelow ||= order.below > MAX_IN_A_ROW
  }
  const times = Float64Array.from([...order.pending, ...calls.flatMap((call) => ownStart(call) ?? [])]).toSorted()
  const isEnough = times.length >= MIN_CALLS
  order.pending = isEnough ? [] : [...times]
  if (!isEnough) return
  const at = (share: number) => times[Math.floor(times.length * share)]!
  order.isAbove ||= at(0.5) > order.upperBound
  order.isBelow ||= at(0.5) < order.lowerBound
  order.upperBound = Math.min(order.upperBound, at(0.85))
  order.lowerBound = Math.max(order.lowerBound, at(0.15))
}
