import type { ListedCall } from '../ledger/observation.ts'
import { isEarlierRow } from '../ledger/delta/repeated-id.ts'
import type { LedgerState } from '../ledger/state.ts'

/**
 * Listed rows that may be another call with the id of a tracked call, because they began earlier. If there are two such
 * calls, a sweep lists both. If a complete sweep lists only the earlier row, that row is the tracked call, and the service
 * has changed the call's times.
 */
export type EarlierRows = {
  /**
   * Notes the calls of a page. Returns the ids of earlier rows that are the tracked calls themselves.
   *
   * @param now monotonic seconds
   * @param sweptAt when the last complete sweep began (monotonic seconds)
   */
  confirm: (calls: readonly ListedCall[], state: LedgerState, now: number, sweptAt: number | undefined) => Set<string>
}

export function earlierRows(): EarlierRows {
  /** For each id, since when only its earlier row was listed (monotonic seconds). */
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
