import { EXPORTED_WINDOWS, failureRatio, MIN_EXPORTED_CALLS } from '../ledger/failure-ratio.ts'
import type { LedgerState } from '../ledger/state.ts'
import { windows } from '../metrics/derived-metrics.ts'

/**
 * The exported windows in `/api/v1/status`: how their calls ended, and the ratios where there are enough of them for
 * one. Equal to `callwatch_window_calls` and `callwatch_call_failure_ratio` at the same commit.
 */
export function windowViews(ledger: Pick<LedgerState, 'finished' | 'facts'>) {
  const seconds = new Map<string, number>(Object.entries(EXPORTED_WINDOWS))
  return windows(ledger).map(([window, { total, ...finished }]) => {
    const ratio = (reason: Parameters<typeof failureRatio>[1]) => failureRatio({ total, ...finished }, reason)
    return {
      window,
      seconds: seconds.get(window)!,
      calls: total,
      finished,
      ratio:
        total < MIN_EXPORTED_CALLS
          ? null
          : {
              any: ratio('any'),
              unanswered: ratio('unanswered'),
              rejected: ratio('rejected'),
              canceled: ratio('canceled'),
            },
    }
  })
}
