import { chance, whole } from './draw.ts'
import { entryAt, sizeOf } from './listing.ts'
import type { Entry, Listing } from './listing.ts'
import type { Random } from './random.ts'
import type { Switches } from './switches.ts'

/** An order that is in force. */
export type Order = Exclude<Switches['order'], 'changing'>

const ORDERS: Order[] = ['newest', 'oldest', 'shuffled']

/** What the orders that are not by the beginning go by, the highest first; `undefined` comes last. */
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
  return chance(random, CHANGE) ? ORDERS[whole(random, 0, ORDERS.length - 1)]! : before
}

/** The calls from place `from` up to place `to`, which is left out, of the list in that order; places begin at 0. */
export function cut(listing: Listing, order: Order, from: number, to: number, random: Random): Entry[] {
  const size = sizeOf(listing)
  const count = Math.max(0, Math.min(to, size) - Math.max(0, from))
  // Mixed anew for every request, any page is as good as a sample of its length.
  if (order === 'shuffled') return sample(listing, count, random)
  if (order === 'ties') return sorted(listing, withTies(random)).slice(Math.max(0, from), Math.max(0, from) + count)
  const key = KEYS[order]
  if (key) return sorted(listing, key).slice(Math.max(0, from), Math.max(0, from) + count)
  return Array.from({ length: count }, (_none, index) => {
    const place = Math.max(0, from) + index
    return entryAt(listing, order === 'oldest' ? place : size - 1 - place)
  })
}

/** By when they began, to five minutes: those of the same five come as chance has it. */
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
  const size = sizeOf(listing)
  const newestFirst = Array.from({ length: size }, (_none, index) => entryAt(listing, size - 1 - index))
  return newestFirst.toSorted((a, b) => {
    const [one, other] = [key(a), key(b)]
    if (one === other) return 0
    return one === undefined || (other !== undefined && one < other) ? 1 : -1
  })
}
