import type { SeenCall } from '../ledger/call.ts'
import { isExcluded } from '../ledger/horizon.ts'
import { identify, knownOf, sessionOf, type KnownCall, type Row } from '../ledger/identity.ts'
import type { ListedCall } from '../ledger/observation.ts'
import type { LedgerState } from '../ledger/state.ts'

/**
 * Gives the rows of answers the ids of their calls. The pages of a poll are read before the ones before them are committed, so it
 * also remembers the new calls of the running poll.
 */
export type CallIdentities = {
  /**
   * Sets the ids of the rows of an answer.
   *
   * @param oldest since when calls count (UNIX seconds)
   * @param now the service's clock (UNIX seconds)
   */
  identify: (rows: readonly ListedCall[], state: Known, oldest: number, now: number) => void
  /** Call it when a poll starts. @param began when the reading began that the poll continues (UNIX seconds) */
  startPoll: (began: number | undefined) => void
  /** Call it when the rows of pages were committed. */
  committed: (rows: readonly ListedCall[]) => void
}

/** The latest committed state. */
type Known = Pick<LedgerState, 'calls' | 'sync'>

export function callIdentities(): CallIdentities {
  /** The calls of each session that are not committed yet. */
  const found = new Map<string, KnownCall[]>()
  let readingSince: number | undefined

  const isNew = (row: ListedCall): row is SeenCall => !('phase' in row)

  return {
    startPoll: (began) => {
      found.clear()
      readingSince = began
    },
    committed: (rows) => {
      if (found.size > 0) for (const row of rows) if (isNew(row)) found.delete(row.session)
    },
    identify: (rows, { calls, sync }, oldest, now) => {
      readingSince ??= now
      if (!rows.some(isNew)) return
      const { reusesSessions: isReused = false, lastSuccess = -Infinity } = sync
      // A poll that failed may have shown a part of what this one reads.
      const isUnfinished = isReused || lastSuccess === -Infinity
      const answer = {
        now,
        readingSince: isUnfinished ? Math.min(readingSince, lastSuccess + 1e-3) : readingSince,
        isReused,
        isTooOld: (row: Row) => isExcluded(row, oldest),
      }
      for (const [session, ofSession] of Map.groupBy(rows, sessionOf)) {
        const changed = ofSession.filter(isNew)
        const unchanged = ofSession.flatMap((row) => (isNew(row) ? [] : row.id))
        const tracked = [...calls.ofSession(session)].map((call) => knownOf(call, sync))
        const known = [...tracked, ...(found.get(session) ?? [])]
        for (const [i, id] of identify(changed, known, answer, unchanged).entries()) {
          const row = changed[i]!
          row.id = id
          if (!known.some((call) => call.id === id)) known.push({ ...row, firstSeen: now, shownUntil: now })
        }
        if (known.length > tracked.length) found.set(session, known.slice(tracked.length))
      }
    },
  }
}
