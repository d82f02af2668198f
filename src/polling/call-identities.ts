import { finalStatus, type SeenCall } from '../ledger/call.ts'
import { isExcluded } from '../ledger/horizon.ts'
import {
  hasOtherMid,
  identify,
  isSameStart,
  knownOf,
  sessionOf,
  type Answer,
  type KnownCall,
  type Row,
} from '../ledger/identity.ts'
import type { ListedCall } from '../ledger/observation.ts'
import type { LedgerState, SyncState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

/** A poll that failed may have shown a part of what this one reads. That matters if sessions are used again, or for the first poll. */
function unfinishedSince({ reusesSessions, lastSuccess }: SyncState): number {
  if (lastSuccess === undefined) return -Infinity
  return reusesSessions === true ? lastSuccess + 1e-3 : Infinity
}

/** The latest committed state. */
type Known = Pick<LedgerState, 'calls' | 'sync'>

/** What is not committed yet, or never is. Changed in place. */
type Memory = {
  /** The new calls of each session, and when they were shown (UNIX seconds): those read since a commit, and those before it. */
  found: readonly [FoundCalls, FoundCalls]
  /** The tracked calls that this poll has shown at their start. */
  readonly shown: Set<string>
  /** When each open call was shown last (UNIX seconds). After a restart, it is certain only of when it was first seen. */
  readonly shownAt: Map<string, number>
  readingSince: number | undefined
}
type FoundCalls = Map<string, readonly Found[]>
type Found = { row: SeenCall; at: number }

/**
 * Gives the rows of answers the ids of their calls. The pages of a poll are read before the ones before them are committed, so it
 * also remembers the new calls of the running poll.
 */
export function callIdentities() {
  const nothing = () => [new Map(), new Map()] as const
  const memory: Memory = { found: nothing(), shown: new Set(), shownAt: new Map(), readingSince: undefined }
  const { shown, shownAt } = memory
  return {
    /**
     * Call it when a poll starts.
     *
     * @param began when the reading began that the poll continues (UNIX seconds)
     * @param open the ids of open calls
     */
    startPoll: (began: number | undefined, open: Pick<ReadonlySet<string>, 'has'>): void => {
      memory.found = nothing()
      shown.clear()
      memory.readingSince = began
      for (const id of shownAt.keys()) if (!open.has(id)) shownAt.delete(id)
    },
    /** Call it when a chunk of rows was committed. At most one further chunk may have been read by then. */
    committed: (): void => {
      memory.found = [new Map(), memory.found[0]]
    },
    /**
     * Sets the ids of the rows of an answer.
     *
     * @param oldest since when calls count (UNIX seconds)
     * @param now the service's clock (UNIX seconds)
     */
    identify: (rows: readonly ListedCall[], state: Known, oldest: number, now: number): void => {
      memory.readingSince ??= now
      for (const row of rows) if (!isNew(row)) shown.add(row.id)
      if (!rows.some(isNew)) return
      const isReused = state.sync.reusesSessions === true
      const answer = { now, isReused, isTooOld: (row: Row) => isExcluded(row, oldest) }
      // In nearly all answers, each row is of another session.
      const groups = new Set(rows.map(sessionOf)).size === rows.length ? undefined : Map.groupBy(rows, sessionOf)
      for (const row of rows) {
        if (!isNew(row)) continue
        const group = groups?.get(row.session) ?? [row]
        if (group.length > 1 || !identifyPlainly(memory, row, state, answer)) identifyAll(memory, group, state, answer)
      }
    },
  }
}

const isNew = (row: ListedCall): row is SeenCall => !('phase' in row)

/** Whether a row is the first call of its session, or the only one, with the same start. So it is for nearly all rows. */
function identifyPlainly(memory: Memory, row: SeenCall, { calls }: Known, answer: Answer): boolean {
  const [call, ...others] = calls.ofSession(row.session)
  if (others.length > 0 || memory.found.some((found) => found.has(row.session))) return false
  if (call === undefined) {
    row.id = identify([row], [], answer)[0]!
    memory.found[0].set(row.session, [{ row, at: answer.now }])
  } else if (isSameStart(row, call) && !hasOtherMid(row, call)) row.id = call.id
  else return false
  note(memory, row, call !== undefined, answer.now)
  return true
}

/** Identifies all rows of a session in an answer. */
function identifyAll(memory: Memory, rows: readonly ListedCall[], { calls, sync }: Known, answer: Answer): void {
  const changed = rows.filter(isNew)
  const { session } = changed[0]!
  const unchanged = rows.flatMap((row) => (isNew(row) ? [] : row.id))
  const before = memory.found.flatMap((found) => found.get(session) ?? []).filter(({ row }) => !calls.has(row.id))
  const known = [...calls.ofSession(session).map((call) => latest(memory, call, sync)), ...before.map(knownOfFound)]
  const ids = identify(changed, known, answer, unchanged)
  for (const [i, row] of changed.entries()) {
    row.id = ids[i]!
    const call = known.find(({ id }) => id === row.id)
    note(memory, row, call !== undefined && isSameStart(row, call), answer.now)
  }
  const more = changed.filter(({ id }) => !known.some((call) => call.id === id))
  if (more.length === 0) return
  const [found] = memory.found
  found.set(session, [...(found.get(session) ?? []), ...more.map((row) => ({ row, at: answer.now }))])
}

function latest({ shown, shownAt, readingSince }: Memory, call: TrackedCall, sync: SyncState): KnownCall {
  const known = knownOf(call, sync)
  const shownUntil = call.phase === 'open' ? (shownAt.get(call.id) ?? known.shownUntil) : known.shownUntil
  const since = Math.min(readingSince!, unfinishedSince(sync))
  return { ...known, shownUntil, isInReading: call.firstSeen >= since || shown.has(call.id) }
}

const knownOfFound = ({ row, at }: Found): KnownCall => ({ ...row, firstSeen: at, shownUntil: at, isInReading: true })

/** Notes that an answer has shown a call. */
function note({ shown, shownAt }: Memory, row: SeenCall, isAtStart: boolean, now: number): void {
  if (isAtStart) shown.add(row.id)
  if (finalStatus(row) === undefined) shownAt.set(row.id, now)
}
