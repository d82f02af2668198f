import { countedCalls, type CountedCall, type CountOptions } from './counted-calls.ts'
import type { LedgerEvent } from '../calls/ledger.ts'

type FailureReason = 'any' | 'unanswered' | 'rejected' | 'canceled'

/** `ratio` is from 0 to 1, by reason; absent for fewer than five finished calls. */
export type FailureRatio = { calls: number; ratio?: Record<FailureReason, number> }

const MIN_CALLS = 5

/**
 * The share of failed calls among the calls that finished in a window (semantics.md, Failure ratio).
 *
 * @param from UNIX seconds, included; the window ends at `options.now`, included
 */
export function failureRatio(events: readonly LedgerEvent[], options: CountOptions & { from: number }): FailureRatio {
  const finished = countedCalls(events, options).filter((call) => {
    const time = finishedAt(call, options.now)
    return time !== undefined && time >= options.from
  })
  const calls = finished.length
  if (calls < MIN_CALLS) return { calls }
  const share = (...reasons: string[]): number =>
    finished.filter(({ final }) => reasons.includes(final!.status)).length / calls
  return {
    calls,
    ratio: {
      any: share('unanswered', 'rejected', 'canceled'),
      unanswered: share('unanswered'),
      rejected: share('rejected'),
      canceled: share('canceled'),
    },
  }
}

/** `endedAt`, limited to the time from the call's start to now. Without one, when the call became final. */
function finishedAt({ first, final }: CountedCall, now: number): number | undefined {
  if (!final) return undefined
  const { initiatedAt, startedAt, endedAt, at } = final
  const began = initiatedAt ?? startedAt ?? endedAt ?? first.at
  return Math.min(Math.max(endedAt ?? at, began), now)
}
