import type { ObservedRequest } from '../../../kit/observed-requests.ts'

/** A time without requests for a target (seconds). */
export type Gap = { target: string; from: number; seconds: number }

/** The longest time without a request for a target's list, of all targets, from one moment to another. */
export function longestGap(requests: ReadonlyMap<string, readonly ObservedRequest[]>, begin: number, end: number): Gap {
  let longest: Gap = { target: '', from: 0, seconds: 0 }
  for (const [target, sent] of requests) {
    const times = [begin, ...sent.map(({ at }) => at).filter((at) => at > begin && at < end), end]
    for (const [i, at] of times.entries()) {
      const from = times[i - 1] ?? at
      if (at - from > longest.seconds) longest = { target, from, seconds: at - from }
    }
  }
  return longest
}
