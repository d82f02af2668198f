import { entriesOf, entryAt, sizeOf, type Entry, type Listing } from './listing.ts'
import { chance, pick, whole, type Random } from './random.ts'
import type { Switches } from './switches.ts'

/** An order that is active. */
export type Order = Exclude<Switches['order'], 'changing'>

const ORDERS: Order[] = ['newest', 'oldest', 'shuffled']

/** What the orders that are not by the beginning depend on, the highest first; `undefined` comes last. */
const KEYS: Partial<Record<Order, (entry: Entry) => number | string | undefined>> = {
  type: ({ call }) => call.type,
  startedAt: ({ call }) => call.startedAt,
  endedAt: ({ call }) => call.endedAt ?? Infinity,
  inserted: ({ row }) => row,
  updatedAt: ({ atMs }) => atMs,
  updated_last: ({ atMs }) => -atMs,
}

const TIES_MS = 300_000

/** The probability that a changing order is another one at the next request. */
const CHANGE = 0.02

/** The order of the next request, by the switch and by the one before. */
export function nextOrder(wanted: Switches['order'], before: Order, random: Random): Order {
  if (wanted !== 'changing') return wanted
  return chance(random, CHANGE) ? pick(random, ORDERS) : before
}

/** The calls from place `from` up to place `to`, which is left out, of the list in that order; places begin at 0. */
export function cut(listing: Listing, order: Order, from: number, to: number, random: Random): Entry[] {
  const size = sizeOf(listing)
  const first = Math.max(0, from)
  const count = Math.max(0, Math.min(to, size) - first)
  // Shuffled again for every request, any page is as good as a sample of its length.
  if (order === 'shuffled') return sample(listing, count, random)
  const key = order === 'ties' ? withTies(random) : KEYS[order]
  if (key) return sorted(listing, key).slice(first, first + count)
  return Array.from({ length: count }, (_none, index) =>
    entryAt(listing, order === 'oldest' ? first + index : size - 1 - first - index),
  )
}

/** By when they began, to five minutes; in random order within those. */
function withTies(random: Random): (entry: Entry) => number {
  const places = new Map<Entry, number>()
  return (entry) => {
    const place = places.get(entry) ?? random()
    places.set(entry, place)
    return Math.floor(entry.beganMs / TIES_MS) + place
  }
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

/** By the key, the highest first; the newest first where that is the same. */
function sorted(listing: Listing, key: (entry: Entry) => number | string | undefined): Entry[] {
  return entriesOf(listing)
    .toReversed()
    .toSorted((a, b) => {
      const [one, other] = [key(a), key(b)]
      if (one === other) return 0
      return one === undefined || (other !== undefined && one < other) ? 1 : -1
    })
}
