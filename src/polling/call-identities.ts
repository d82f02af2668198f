import { finalStatus, type SeenCall } from '../ledger/call.ts'
import { isExcluded } from '../ledger/horizon.ts'
import { identify, isSameStart, knownOf, sessionOf, type KnownCall, type Row } from '../ledger/identity.ts'
import type { ListedCall } from '../ledger/observation.ts'
import type { LedgerState, SyncState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

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
  /**
   * Call it when a poll starts.
   *
   * @param began when the reading began that the poll continues (UNIX seconds)
   * @param open the ids of open calls
   */
  startPoll: (began: number | undefined, open: Pick<ReadonlySet<string>, 'has'>) => void
  /** Call it when the rows of pages were committed. */
  committed: (rows: readonly ListedCall[]) => void
}

/** A poll that failed may have shown a part of what this one reads. That matters if sessions are used again, or for the first poll. */
function unfinishedSince({ reusesSessions, lastSuccess }: SyncState): number {
  if (lastSuccess === undefined) return -Infinity
  return reusesSessions === true ? lastSuccess + 1e-3 : Infinity
}

/** The latest committed state. */
type Known = Pick<LedgerState, 'calls' | 'sync'>

export function callIdentities(): CallIdentities {
  /** The calls of each session that are not committed yet. */
  const found = new Map<string, KnownCall[]>()
  /** The tracked calls that this poll has shown at their start. */
  const shown = new Set<string>()
  /** When each open call was shown last (UNIX seconds). After a restart, it is certain only of when it was first seen. */
  const shownAt = new Map<string, number>()
  let readingSince: number | undefined

  const isNew = (row: ListedCall): row is SeenCall => !('phase' in row)

  return {
    startPoll: (began, open) => {
      found.clear()
      shown.clear()
      readingSince = began
      for (const id of shownAt.keys()) if (!open.has(id)) shownAt.delete(id)
    },
    committed: (rows) => {
      const ids = new Set(rows.map(({ id }) => id))
      for (const [session, calls] of found) {
        const rest = calls.filter(({ id }) => !ids.has(id))
        if (rest.length === 0) found.delete(session)
        else if (rest.length < calls.length) found.set(session, rest)
      }
    },
    identify: (rows, { calls, sync }, oldest, now) => {
      readingSince ??= now
      for (const row of rows) if (!isNew(row)) shown.add(row.id)
      if (!rows.some(isNew)) return
      const since = Math.min(readingSince, unfinishedSince(sync))
      const answer = { now, isReused: sync.reusesSessions === true, isTooOld: (row: Row) => isExcluded(row, oldest) }
      for (const [session, ofSession] of Map.groupBy(rows, sessionOf)) {
        const changed = ofSession.filter(isNew)
        const unchanged = ofSession.flatMap((row) => (isNew(row) ? [] : row.id))
        const tracked = Array.from(calls.ofSession(session), (call) => latest(call, sync, since))
        const known = [...tracked, ...(found.get(session) ?? [])]
        const ids = identify(changed, known, answer, unchanged)
        for (const [i, row] of changed.entries()) note(Object.assign(row, { id: ids[i]! }), known, now)
        if (known.length > tracked.length) found.set(session, known.slice(tracked.length))
      }
    },
  }

  function latest(call: TrackedCall, sync: SyncState, since: number): KnownCall {
    const known = knownOf(call, sync)
    const shownUntil = call.phase === 'open' ? (shownAt.get(call.id) ?? known.shownUntil) : known.shownUntil
    return { ...known, shownUntil, isInReading: call.firstSeen >= since || shown.has(call.id) }
  }

  /** Notes that an answer has shown a call, and adds it to the known ones if it is new. */
  function note(row: SeenCall, known: KnownCall[], now: number): void {
    const call = known.find(({ id }) => id === row.id)
    if (call === undefined) known.push({ ...row, firstSeen: now, shownUntil: now, isInReading: true })
    else if (isSameStart(row, call)) shown.add(row.id)
    if (finalStatus(row) === undefined) shownAt.set(row.id, now)
  }
}
