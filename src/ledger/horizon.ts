import { finalStatus, ownTime } from './call.ts'
import type { Row } from './identity.ts'
import type { SyncState } from './state.ts'

/**
 * The horizon (UNIX seconds): `lookback` before the last but one confirmed sweep began, or before the target was created. So what
 * one sweep missed, the next one counts. The horizon never moves back, so a longer lookback does not make evicted calls look new.
 */
export function horizon(sync: SyncState, lookback: number): number {
  const { horizon = -Infinity, horizonSweep, created } = sync
  return Math.max(horizon, (horizonSweep ?? created) - lookback)
}

/**
 * Whether an unknown call is excluded each time it is listed, because it ended before the horizon (UNIX seconds). A call with
 * a time far in the future is tracked instead: it would look new when that time has come.
 */
export function isExcluded(seen: Row, horizon: number): boolean {
  return finalStatus(seen) !== undefined && seen.ahead === undefined && (ownTime(seen) ?? Infinity) < horizon
}
