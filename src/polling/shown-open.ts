import { finalStatus } from '../ledger/call.ts'
import type { ListedCall } from '../ledger/observation.ts'

/**
 * When answers last showed each open call as open. It is not durable: after a restart, callwatch only knows when a call was first seen.
 */
export function shownOpen() {
  /** By the service's clock (UNIX seconds). */
  const until = new Map<string, number>()
  return {
    /** Call it when a poll starts. @param open the open calls by id */
    startPoll: (open: Pick<ReadonlyMap<string, unknown>, 'has'>): void => {
      for (const id of until.keys()) if (!open.has(id)) until.delete(id)
    },
    /** Notes the rows of an answer that are open, and gives final ones `openUntil`. @param now the service's clock (UNIX seconds) */
    note: (rows: readonly ListedCall[], now: number): void => {
      for (const row of rows) {
        if ('phase' in row) continue
        if (finalStatus(row) === undefined) until.set(row.id, now)
        else row.openUntil = until.get(row.id)
      }
    },
  }
}
