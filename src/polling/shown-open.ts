import { finalStatus } from '../ledger/call.ts'
import type { ListedCall } from '../ledger/observation.ts'
import type { LedgerState } from '../ledger/state.ts'

/** When answers last showed each call as open that has not finished. It is not durable. */
export function shownOpen() {
  /** By the service's clock (UNIX seconds). */
  const until = new Map<string, number>()
  return {
    /** Call it when a poll starts. */
    startPoll: ({ calls }: Pick<LedgerState, 'calls'>): void => {
      for (const id of until.keys()) {
        const phase = calls.phase(id)
        if (phase !== 'open' && phase !== 'lost') until.delete(id)
      }
    },
    /**
     * Gives the final rows of an answer `openUntil`, and notes its open ones, but for outdated rows next to a final one.
     *
     * @param now the service's clock (UNIX seconds)
     */
    note: (rows: readonly ListedCall[], now: number): void => {
      const final = new Set<string>()
      for (const row of rows) {
        if ('phase' in row || finalStatus(row) === undefined) continue
        row.openUntil = until.get(row.id)
        final.add(row.id)
      }
      for (const row of rows) if (finalStatus(row) === undefined && !final.has(row.id)) until.set(row.id, now)
    },
  }
}
