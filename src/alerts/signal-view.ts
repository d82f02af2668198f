import type { Signal } from './signals.ts'

/** A signal with its settings, as the API shows it. Durations and windows are seconds. */
export function signalView(signal: Signal) {
  return {
    signal: signal.name,
    ...('window' in signal ? { window_seconds: signal.window } : {}),
    ...('reason' in signal ? { reason: signal.reason } : {}),
    ...('media' in signal ? { media: signal.media } : {}),
    ...('minCalls' in signal ? { min_calls: signal.minCalls } : {}),
    ...('limit' in signal ? { limit: signal.limit, timezone: signal.timezone } : {}),
    ...('longerThan' in signal ? { longer_than_seconds: signal.longerThan } : {}),
  }
}
