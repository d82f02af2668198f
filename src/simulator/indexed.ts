import { entryAt, listingOf, sizeOf } from './listing.ts'
import type { Listing } from './listing.ts'

/** Multiples of it are spread evenly over 0 to 1, whatever their number (Weyl 1916). */
const GOLDEN_RATIO = 0.618033988749895

/** The same share of the calls at every request, spread over the whole list. */
export function indexedOf(listing: Listing, share: number): Listing {
  const all = Array.from({ length: sizeOf(listing) }, (_none, index) => entryAt(listing, index))
  return listingOf(all.filter(({ row }) => (row * GOLDEN_RATIO) % 1 < share))
}
