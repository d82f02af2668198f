import { chance, whole } from './draw.ts'
import { entryAt, sizeOf } from './listing.ts'
import type { Entry, Listing } from './listing.ts'
import type { Random } from './random.ts'
import type { Switches } from './switches.ts'

/** An order that is in force. */
export type Order = 'newest' | 'oldest' | 'shuffled'

const ORDERS: Order[] = ['newest', 'oldest', 'shuffled']

/** The probability that a changing order is another one at the next request. */
const CHANGE = 0.02

/** The order of the next request, by the switch and by the one before. */
export function nextOrder(wanted: Switches['order'], before: Order, random: Random): Order {
  if (wanted !== 'changing') return wanted
  return chance(random, CHANGE) ? ORDERS[whole(random, 0, ORDERS.length - 1)]! : before
}

/** The calls from place `from` up to place `to`, which is left out, of the list in that order; places begin at 0. */
export function cut(listing: Listing, order: Order, from: number, to: number, random: Random): Entry[] {
  const size = sizeOf(listing)
  const count = Math.max(0, Math.min(to, size) - Math.max(0, from))
  // Mixed anew for every request, any page is as good as a sample of its length.
  if (order === 'shuffled') return sample(listing, count, random)
  return Array.from({ length: count }, (_none, index) => {
    const place = Math.max(0, from) + index
    return entryAt(listing, order === 'oldest' ? place : size - 1 - place)
  })
}

/** `count` different calls, all equally likely (Fisher and Yates, only as far as needed, with a sparse array). */
function sample(listing: Listing, count: number, random: Random): Entry[] {
  const size = sizeOf(listing)
  const moved = new Map<number, number>()
  return Array.from({ length: count }, (_none, index) => {
    const drawn = whole(random, index, size - 1)
    const place = moved.get(drawn) ?? drawn
    moved.set(drawn, moved.get(index) ?? index)
    return entryAt(listing, place)
  })
}
