import { entryAt as placeAt, listingOf, sizeOf } from './listing.ts'
import type { Entry, Listing } from './listing.ts'

/** Nothing lags by more seconds. */
const MOST_LAG = 3600

/** Keeps what a call was until now, for answers that lag. */
export function keepPast(entry: Entry, nowMs: number): void {
  const past = (entry.past ?? []).filter(({ untilMs }) => untilMs > nowMs - MOST_LAG * 1000)
  entry.past = [...past, { untilMs: nowMs, call: entry.call }]
}

/** The call as it was at a moment; undefined where it was not there yet. */
export function entryAt(entry: Entry, ms: number): Entry | undefined {
  if (entry.sinceMs > ms) return undefined
  const then = entry.past?.find(({ untilMs }) => untilMs > ms)
  if (!then) return entry
  const { text: _text, ...rest } = entry
  return { ...rest, call: then.call }
}

/** The list as it was at a moment, no longer ago than pages may lag; calls that have left it since are not in it. */
export function listingAt(listing: Listing, ms: number): Listing {
  return listingOf(
    Array.from({ length: sizeOf(listing) }, (_none, index) => placeAt(listing, index)).flatMap(
      (entry) => entryAt(entry, ms) ?? [],
    ),
  )
}
