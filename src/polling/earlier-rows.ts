import type { ListedCall } from '../ledger/observation.ts'
import { isEarlierRow } from '../ledger/delta/repeated-id.ts'
import type { LedgerState } from '../ledger/state.ts'

/**
 * Rows of the list that seem to be another call with the id of a tracked one, since they began earlier. Two calls with one id are
 * both listed by a sweep. If a complete sweep lists only the earlier row, it is the tracked call, whose times the service has changed.
 */
export type EarlierRows = {
  /**
   * Notes the calls of a page, and returns the ids of earlier rows that are the tracked calls.
   *
   * @param now monotonic seconds
   * @param sweptAt when the last complete sweep began (monotonic seconds)
   */
  confirm: (calls: readonly ListedCall[], state: LedgerState, now: number, sweptAt: number | undefined) => Set<string>
}

export function earlierRows(): EarlierRows {
  /** Since when only earlier rows with these ids were listed (monotonic seconds). */
  const alone = new Map<string, number>()
  return {
    confirm: (calls, { calls: tracked }, now, sweptAt = -Infinity) => {
      const confirmed = new Set<string>()
      for (const call of calls) {
        const known = 'phase' in call ? undefined : tracked.get(call.id)
        if (known === undefined || 'phase' in call || !isEarlierRow(known, call)) {
          if (alone.size > 0) alone.delete(call.id)
          continue
        }
        const since = alone.get(call.id)
        if (since === undefined) alone.set(call.id, now)
        else if (sweptAt > since) confirmed.add(call.id)
      }
      return confirmed
    },
  }
}
