import type { FinalStatus, Labels } from './call.ts'
import type { Finish } from './tracked-call.ts'

/** How many calls finished in a window, by final status. */
export type FinishedCounts = Record<FinalStatus | 'total', number>

/** The calls that finished lately, ordered by when they finished: what windows are counted from. */
export type FinishedCalls = readonly Finish[]

/** The list with further finishes merged in, and those that finished before `oldest` (UNIX seconds) dropped. */
export function withFinished(list: FinishedCalls, added: readonly Finish[], oldest: number): FinishedCalls {
  if (added.length === 0 && (list.length === 0 || list[0]!.at >= oldest)) return list
  const merged = [...list, ...added].toSorted((a, b) => a.at - b.at)
  return merged.slice(firstIndexFrom(merged, oldest))
}

/** How the calls ended that finished from `from` (inclusive) to `to` (inclusive), both UNIX seconds. */
export function countFinished(
  list: FinishedCalls,
  from: number,
  to: number,
  matches: (labels: Labels) => boolean = () => true,
): FinishedCounts {
  const counts: FinishedCounts = { ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, total: 0 }
  for (let i = firstIndexFrom(list, from); i < list.length; i++) {
    const { at, status, labels } = list[i]!
    if (at > to) break
    if (!matches(labels)) continue
    counts[status] += 1
    counts.total += 1
  }
  return counts
}

function firstIndexFrom(list: FinishedCalls, time: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle]!.at < time) low = middle + 1
    else high = middle
  }
  return low
}
