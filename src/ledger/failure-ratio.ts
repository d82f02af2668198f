import { countByStatus, type FinishedCalls, type FinishedCounts } from './finished-calls.ts'

export const REASONS = ['any', 'unanswered', 'rejected', 'canceled'] as const
export type Reason = (typeof REASONS)[number]
/** The statuses of calls that failed for any reason. */
export const FAILURES = ['unanswered', 'rejected', 'canceled'] as const

/** The exported windows (seconds), by their value of the label `window`. */
export const EXPORTED_WINDOWS = { '15m': 900, '1h': 3600, '24h': 86_400 } as const
/** With fewer finished calls the ratio would be noise, so it is not exported. */
export const MIN_EXPORTED_CALLS = 5

/** The share of failures among the finished calls of a window, 0 to 1; NaN without calls. */
export function failureRatio(counts: FinishedCounts, reason: Reason): number {
  return failureCount(counts, reason) / counts.total
}

export function failureCount(counts: FinishedCounts, reason: Reason): number {
  return reason === 'any' ? counts.unanswered + counts.rejected + counts.canceled : counts[reason]
}

/** When a window ends, and when the previous successful poll ended (UNIX seconds, service's clock). */
export type WindowEnd = { now: number; previousSuccess: number | undefined }

/**
 * When a window that ends now begins: `seconds` ago, or at the previous successful poll if that is earlier. So calls that
 * finish while polls fail count at the next successful poll.
 */
export function windowStart(seconds: number, { now, previousSuccess }: WindowEnd): number {
  return Math.min(now - seconds, previousSuccess ?? now)
}

/** The finished calls of a window that ends now, by final status. */
export function countWindow(finished: FinishedCalls, seconds: number, end: WindowEnd): FinishedCounts {
  return countByStatus(finished.tally(windowStart(seconds, end), end.now))
}
