import { countFinished, type FinishedCalls, type FinishedCounts } from './finished-calls.ts'

export const REASONS = ['any', 'unanswered', 'rejected', 'canceled'] as const
export type Reason = (typeof REASONS)[number]

/** The windows that are exported, by the name that they have in the label (seconds). */
export const EXPORTED_WINDOWS = { '15m': 900, '1h': 3600, '24h': 86_400 } as const
/** Below this many finished calls an exported ratio would be noise, and is absent. */
export const MIN_EXPORTED_CALLS = 5

/** The failures among the finished calls of a window, from 0 to 1; NaN without any call. */
export function failureRatio(counts: FinishedCounts, reason: Reason): number {
  const failed = reason === 'any' ? counts.unanswered + counts.rejected + counts.canceled : counts[reason]
  return failed / counts.total
}

/** When windows are judged, and since when callwatch had been blind before that (UNIX seconds, service's clock). */
export type Judged = { now: number; previousGood: number | undefined }

/**
 * The finished calls of a window that ends now. It starts `seconds` ago, or at the good look before this one if that
 * is earlier: what happened while callwatch was blind is judged at the first look after.
 */
export function countWindow(finished: FinishedCalls, seconds: number, { now, previousGood }: Judged): FinishedCounts {
  return countFinished(finished, Math.min(now - seconds, previousGood ?? now), now)
}
