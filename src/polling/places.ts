import type { ListedCall } from '../ledger/observation.ts'
import { ownBeginning } from './list-order.ts'

/**
 * Where the pages of a sweep have been, by when their calls began: in order no later page is beyond it, towards newer calls
 * or, read forwards from the oldest, towards older ones. Changed in place.
 */
export type Places = {
  /** Most calls of some page began before this, and most of some page after this (UNIX seconds). */
  ceiling: number
  floor: number
  /** How many calls in a row, up to the last one that was read, are long beyond either. */
  above: number
  below: number
  /** Whether a later page was beyond either. */
  isAbove: boolean
  isBelow: boolean
  /** When calls began of pages that were too short to be told from. */
  untold: readonly number[]
}

/** Fewer calls of a page say nothing about its place: they are told from together with those of the next one. */
const TELLING = 5
/** Calls in a row that are so far beyond most of an earlier page (seconds) are no wrong dates: others may come there unseen. */
const MOST_IN_A_ROW = 3
const FAR = 600

export function newPlaces(): Places {
  return { ceiling: Infinity, floor: -Infinity, above: 0, below: 0, isAbove: false, isBelow: false, untold: [] }
}

/**
 * Takes down where the next page is: half of it may not be beyond most of an earlier page, nor a few calls in a row far
 * beyond it. Single calls with a wrong date do not matter.
 *
 * @param calls those that no earlier page has shown, in the order of the sweep
 */
export function notePlace(places: Places, calls: readonly ListedCall[]): void {
  for (const call of calls) {
    const began = ownBeginning(call)
    if (began === undefined) continue
    places.above = began > places.ceiling + FAR ? places.above + 1 : 0
    places.below = began < places.floor - FAR ? places.below + 1 : 0
    places.isAbove ||= places.above > MOST_IN_A_ROW
    places.isBelow ||= places.below > MOST_IN_A_ROW
  }
  const times = Float64Array.from([...places.untold, ...calls.flatMap((call) => ownBeginning(call) ?? [])]).toSorted()
  const isTelling = times.length >= TELLING
  places.untold = isTelling ? [] : [...times]
  if (!isTelling) return
  const at = (share: number) => times[Math.floor(times.length * share)]!
  places.isAbove ||= at(0.5) > places.ceiling
  places.isBelow ||= at(0.5) < places.floor
  places.ceiling = Math.min(places.ceiling, at(0.85))
  places.floor = Math.max(places.floor, at(0.15))
}
