import type { Call } from './call.ts'
import type { Life } from './life.ts'

/** A call in the world, and where it belongs in the list. */
export type Entry = {
  sessionId: string
  beganMs: number
  /** A further row of this id: it shows what that entry does, or an earlier call, and never changes. */
  furtherRow?: true
  sameAs?: Entry
  /** Decides between calls that began in the same millisecond. */
  order: number
  /** When it came into the list, in milliseconds since 1970. */
  sinceMs: number
  /** What it was lately and until when, the latest last; kept while pages lag. */
  past?: { untilMs: number; call: Call }[]
  /** Rises from each call that came into the list to the next. */
  row: number
  /** Absent once nothing more happens to the call. */
  life?: Life
  /** When the last ledger event was. */
  atMs: number
  endedMs: number
  /** With the figures that the last ledger event left. */
  call: Call
  /** What the wire shows instead of the call as it is. */
  shown?: (call: Call) => Record<string, unknown>
  /** false: Get Call does not know it, for a while or for good. */
  known: boolean
  /** The wire form of the call as it is now; absent: not made yet. */
  text?: string
}

/** The calls that are listed, oldest first, from `first` on: what leaves at the old end only moves `first`. */
export type Listing = { entries: Entry[]; first: number }

export function listingOf(entries: Entry[]): Listing {
  return { entries, first: 0 }
}

export function sizeOf({ entries, first }: Listing): number {
  return entries.length - first
}

/** `index` from 0, the oldest, to `sizeOf(listing) - 1`. */
export function entryAt({ entries, first }: Listing, index: number): Entry {
  return entries[first + index]!
}

/** Adds the call where it belongs: as a rule at the young end. */
export function insert(listing: Listing, entry: Entry): void {
  const { entries } = listing
  const last = entries.at(-1)
  if (!last || isBefore(last, entry)) entries.push(entry)
  else entries.splice(placeOf(listing, entry), 0, entry)
}

export function remove(listing: Listing, entry: Entry): void {
  const place = placeOf(listing, entry)
  if (listing.entries[place] === entry) listing.entries.splice(place, 1)
}

/** Takes the oldest call from the list; there must be one. */
export function removeOldest(listing: Listing): Entry {
  const entry = listing.entries[listing.first]!
  listing.first++
  if (listing.first > 1000 && listing.first * 2 > listing.entries.length) {
    listing.entries.splice(0, listing.first)
    listing.first = 0
  }
  return entry
}

/** The calls that are listed, oldest first. */
export function entriesOf({ entries, first }: Listing): Entry[] {
  return entries.slice(first)
}

/** The call as the wire shows it. */
export function wireOf({ sameAs, ...entry }: Entry): Record<string, unknown> {
  const { call, shown } = sameAs ?? entry
  return shown ? shown(call) : call
}

/** The same as text, made once for each state of the call. */
export function wireText(row: Entry): string {
  const entry = row.sameAs ?? row
  entry.text ??= JSON.stringify(wireOf(entry))
  return entry.text
}

/** The first place whose call is not before the given one. */
function placeOf({ entries, first }: Listing, entry: Entry): number {
  let low = first
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(entries[middle]!, entry)) low = middle + 1
    else high = middle
  }
  return low
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.beganMs < b.beganMs || (a.beganMs === b.beganMs && a.order < b.order)
}
