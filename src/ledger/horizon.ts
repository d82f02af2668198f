import { finalStatus, ownTime, type SeenCall } from './call.ts'
import type { SyncState } from './state.ts'

/**
 * How far back calls count (UNIX seconds): `lookback` before the last complete sweep began, or before the set-up. If that
 * sweep listed invalid items, before the sweep before it: any of them may be a call that was not seen yet. It never
 * moves back, so that calls that were evicted before a larger lookback was configured do not look new.
 */
export function horizon(sync: SyncState, lookback: number): number {
  const { horizon = -Infinity, horizonSweep, lastSweepBegan, created } = sync
  return Math.max(horizon, (horizonSweep ?? lastSweepBegan ?? created) - lookback)
}

/**
 * Whether an unknown call is excluded each time it is listed: it ended before the horizon (UNIX seconds). A call with a
 * time in the far future is tracked instead, because it would look new once that time has come.
 */
export function isExcluded(seen: SeenCall, horizon: number): boolean {
  return finalStatus(seen) !== undefined && seen.ahead === undefined && (ownTime(seen) ?? Infinity) < horizon
}
