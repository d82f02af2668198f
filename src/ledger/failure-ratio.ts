import { countByStatus, type FinishedCalls, type FinishedCounts } from './finished-calls.ts'

export const REASONS = ['any', 'unanswered', 'rejected', 'canceled'] as const
export type Reason = (typeof REASONS)[number]

/** The windows that are exported, by the name that they have in the label (seconds). */
export const EXPORTED_WINDOWS = { '15m': 900, '1h': 3600, '24h': 86_400 } as const
/** Below this many finished calls an exported ratio would be noise, and is absent. */
export const MIN_EXPORTED_CALLS = 5

/** The failures among the finished calls of a window, from 0 to 1; NaN without any call. */
export function failureRatio(counts: FinishedCounts, reason: Reason): number {
  return failureCount(counts, reason) / counts.total
}

export function failureCount(counts: FinishedCounts, reason: Reason): number {
  return reason === 'any' ? counts.unanswered + counts.rejected + counts.canceled : counts[reason]
}

/** When windows end, and since when callwatch had been blind before that (UNIX seconds, service's clock). */
export type WindowEnd = { now: number; previousSuccess: number | undefined }

/**
 * When a window begins that ends now: `seconds` ago, or at the successful poll before this one if that is earlier. What
 * happened while callwatch was blind counts at the first poll after.
 */
export function windowStart(seconds: number, { now, previousSuccess }: WindowEnd): number {
  return Math.min(now - seconds, previousSuccess ?? now)
}

/** How the finished calls of a window ended that ends now. */
export function countWindow(finished: FinishedCalls, seconds: number, end: WindowEnd): FinishedCounts {
  return countByStatus(finished.tally(windowStart(seconds, end), end.now))
}
