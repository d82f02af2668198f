import { finalStatus, type SeenCall } from '../../ledger/call.ts'
import type { ListedCall } from '../../ledger/observation.ts'

/**
 * Counts the rows of finished calls in a list by what the service shows of them, so that the audit does not trust the code that decides
 * which row is which call. Equal rows, as on two pages, are one.
 */
export function rowCounter() {
  const rows = new Map<string, string>()
  return {
    /** Adds the rows of an answer, which have the ids of their calls. */
    add: (listed: readonly ListedCall[]): void => {
      for (const row of listed) if (!('phase' in row) && finalStatus(row) !== undefined) rows.set(keyOf(row), row.id)
    },
    /** How many rows each call has, by its id. */
    byCall: (): ReadonlyMap<string, number> => {
      const counts = new Map<string, number>()
      for (const id of rows.values()) counts.set(id, (counts.get(id) ?? 0) + 1)
      return counts
    },
  }
}

const keyOf = ({ session, mid, initiatedAt, startedAt, endedAt }: SeenCall) =>
  JSON.stringify([session, mid, initiatedAt, startedAt, endedAt])
