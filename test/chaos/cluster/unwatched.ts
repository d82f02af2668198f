import type { ObservedRequest } from '../observed-requests.ts'

/** A time in which nobody asked about a target (seconds). */
export type Gap = { target: string; from: number; seconds: number }

/** The longest time between two requests for a target's list, of all targets. */
export function longestUnwatched(requests: ReadonlyMap<string, readonly ObservedRequest[]>): Gap {
  let longest: Gap = { target: '', from: 0, seconds: 0 }
  for (const [target, asked] of requests) {
    for (const [i, { at }] of asked.entries()) {
      const from = asked[i - 1]?.at ?? at
      if (at - from > longest.seconds) longest = { target, from, seconds: at - from }
    }
  }
  return longest
}
