import type { FinalStatus } from './call.ts'
import type { Finish } from './tracked-call.ts'

/** How many calls finished in a window, by final status. */
export type FinishedCounts = Record<FinalStatus | 'total', number>

/** The calls that finished lately, ordered by when they finished: what windows are counted from. */
export type FinishedCalls = readonly Finish[]

/** The list with further finishes merged in, and those that finished before `oldest` (UNIX seconds) dropped. */
export function withFinished(list: FinishedCalls, added: readonly Finish[], oldest: number): FinishedCalls {
  if (added.length === 0 && (list.length === 0 || list[0]!.at >= oldest)) return list
  const merged = merge(
    list,
    added.toSorted((a, b) => a.at - b.at),
  )
  const first = firstIndexFrom(merged, oldest)
  return first === 0 ? merged : merged.slice(first)
}

/** Two lists in order made one, in order. */
function merge(left: FinishedCalls, right: FinishedCalls): FinishedCalls {
  if (left.length === 0 || right.length === 0) return left.length === 0 ? right : left
  if (left.at(-1)!.at <= right[0]!.at) return left.concat(right)
  if (right.at(-1)!.at < left[0]!.at) return right.concat(left)
  const merged: Finish[] = []
  let [l, r] = [0, 0]
  while (l < left.length && r < right.length) merged.push(left[l]!.at <= right[r]!.at ? left[l++]! : right[r++]!)
  return merged.concat(left.slice(l), right.slice(r))
}

/** Puts one in its place, in place. */
export function insertFinish(list: Finish[], finish: Finish): void {
  list.splice(firstIndexPast(list, finish.at), 0, finish)
}

/** The calls that finished from `from` (inclusive) to `to` (inclusive), both UNIX seconds. */
export function finishedBetween(list: FinishedCalls, from: number, to: number): FinishedCalls {
  return list.slice(firstIndexFrom(list, from), firstIndexPast(list, to))
}

/** How these calls ended. */
export function countByStatus(calls: Iterable<Pick<Finish, 'status'>>): FinishedCounts {
  const counts: FinishedCounts = { ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, total: 0 }
  for (const { status } of calls) {
    counts[status] += 1
    counts.total += 1
  }
  return counts
}

function firstIndexFrom(list: FinishedCalls, time: number): number {
  return firstIndexWhere(list, (at) => at >= time)
}

function firstIndexPast(list: FinishedCalls, time: number): number {
  return firstIndexWhere(list, (at) => at > time)
}

/** By bisection, of what holds from some index on. */
function firstIndexWhere(list: FinishedCalls, holds: (at: number) => boolean): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(list[middle]!.at)) high = middle
    else low = middle + 1
  }
  return low
}
