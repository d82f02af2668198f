import { finalStatus, type SeenCall } from '../ledger/call.ts'
import { isExcluded } from '../ledger/horizon.ts'
import { identify, isSameStart, sessionOf, TIMES, type Answer, type KnownCall, type Row } from '../ledger/identity.ts'
import type { ListedCall, ServiceAnswer } from '../ledger/observation.ts'
import { addCall, candidates, type Access, type SessionCalls } from '../ledger/session-calls.ts'
import type { LedgerState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

/** The latest committed state. */
type Known = Pick<LedgerState, 'calls' | 'sync'>

/** When an answer was given, by the service's clock (UNIX seconds), and to what. */
type Answered = { now: number; source: ServiceAnswer['source'] }

/** What is not committed yet, or never is. Changed in place. */
type Memory = {
  /** What the rows of each session have shown of its calls: those read since a commit, and those before it. */
  found: readonly [FoundCalls, FoundCalls]
  /** The calls that the reading has shown. */
  readonly shown: Set<string>
}
const NONE: SessionCalls<KnownCall> = { all: [] }
type FoundCalls = Map<string, SessionCalls<KnownCall>>
const ACCESS: Access<KnownCall> = { keysOf: (call) => call, isOpen: (call) => finalStatus(call) === undefined }

/**
 * Gives the rows of answers the ids of their calls. The pages of a poll are read before the ones before them are committed, so it
 * also remembers what the running poll has found.
 */
export function callIdentities() {
  const nothing = () => [new Map(), new Map()] as const
  const memory: Memory = { found: nothing(), shown: new Set() }
  return {
    /**
     * Call it when a poll starts.
     *
     * @param isContinued whether it continues the reading of the poll before
     */
    startPoll: (isContinued: boolean): void => {
      memory.found = nothing()
      if (!isContinued) memory.shown.clear()
    },
    /** Call it when a chunk of rows was committed. At most one further chunk may have been read by then. */
    committed: (): void => {
      memory.found = [new Map(), memory.found[0]]
    },
    /**
     * Sets the ids of the rows of an answer.
     *
     * @param oldest since when calls count (UNIX seconds)
     */
    identify: (rows: readonly ListedCall[], state: Known, oldest: number, { now, source }: Answered): void => {
      const isReused = state.sync.reusesSessions === true
      // What Get Call shows may have changed since the list was read.
      const isShown = (id: string) => source === 'list' && memory.shown.has(id)
      const answer: Answer = { now, isReused, isTooOld: (row: Row) => isExcluded(row, oldest), isShown }
      // In nearly all answers, each row is of another session.
      const groups = new Set(rows.map(sessionOf)).size === rows.length ? undefined : Map.groupBy(rows, sessionOf)
      for (const group of groups?.values() ?? rows.map((row) => [row])) identifyAll(memory, group, state, answer)
      for (const { id } of rows) memory.shown.add(id)
    },
  }
}

const isNew = (row: ListedCall): row is SeenCall => !('phase' in row)
const isUnchanged = (row: ListedCall): row is TrackedCall => 'phase' in row

/** Identifies all rows of a session in an answer. */
function identifyAll({ found }: Memory, rows: readonly ListedCall[], { calls }: Known, answer: Answer): void {
  const changed = rows.filter(isNew)
  if (changed.length === 0) return
  const { session } = changed[0]!
  const known: KnownCall[] = found.flatMap((all) => [...candidates(all.get(session) ?? NONE, changed, ACCESS)])
  known.push(...calls.candidates(session, changed))
  const [only, ...others] = known
  // So it is for nearly all rows.
  const isPlain = rows.length === 1 && others.length === 0 && only !== undefined && isSameStart(changed[0]!, only)
  const ids = isPlain ? [only.id] : identify(changed, known, answer, rows.filter(isUnchanged)) // oxfmt-ignore
  for (const [i, row] of changed.entries()) {
    row.id = ids[i]!
    if (!known.some((call) => call.id === row.id && isShownAs(row, call))) addFound(found[0], session, row, answer.now)
  }
}

function addFound(found: FoundCalls, session: string, row: SeenCall, now: number): void {
  const calls = found.get(session) ?? { all: [] }
  found.set(session, calls)
  addCall(calls, { ...row, firstSeen: now }, ACCESS)
}

/** Whether a row shows nothing else that tells calls apart. */
function isShownAs(row: SeenCall, call: KnownCall): boolean {
  const isSame = TIMES.every((time) => row[time] === call[time]) && row.mid === call.mid
  return isSame && finalStatus(row) === finalStatus(call)
}
