import { cut } from '../../../../src/simulator/answers/list-calls.ts'
import { chance, pick, type Random } from '../../../../src/simulator/random.ts'
import type { Entry } from '../../../../src/simulator/calls/world.ts'
import { besideOf, type WorldState } from '../state.ts'

type Key = (entry: Entry, state: WorldState) => number | string | undefined

const ORDERS = ['newest', 'oldest', 'shuffled'] as const

/** What the orders that are not by the beginning depend on, the highest first; `undefined` comes last. */
const KEYS: Record<string, Key> = {
  type: ({ call }) => call.type,
  startedAt: ({ call }) => call.startedAt,
  endedAt: ({ call }) => call.endedAt ?? Infinity,
  inserted: (entry, state) => besideOf(state, entry).row,
  updatedAt: ({ atMs }) => atMs,
  updated_last: ({ atMs }) => -atMs,
}

const TIES_MS = 300_000

/** The probability that a changing order is another one at the next request. */
const CHANGE = 0.02

/** The order of the next request, by the switch and by the one before. */
export function nextOrder(wanted: string, before: string, random: Random): string {
  if (wanted !== 'changing') return wanted
  return chance(random, CHANGE) ? pick(random, ORDERS) : before
}

/** The calls from place `from` up to place `to`, which is left out, of the list in the present order; places begin at 0. */
export function cutInOrder(state: WorldState, listing: Entry[], from: number, to: number, random: Random): Entry[] {
  const key = state.order === 'ties' ? withTies(random) : KEYS[state.order]
  if (!key) return cut(listing, state.order, from, to, random)
  return sorted(listing, (entry) => key(entry, state)).slice(from, to)
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

/** By the key, the highest first; the newest first where that is the same. */
function sorted(listing: Entry[], key: (entry: Entry) => number | string | undefined): Entry[] {
  return listing.toReversed().toSorted((a, b) => {
    const [one, other] = [key(a), key(b)]
    if (one === other) return 0
    return one === undefined || (other !== undefined && one < other) ? 1 : -1
  })
}
