import { finalStatus, type CallStatus } from '../ledger/call.ts'
import type { LedgerState } from '../ledger/state.ts'
import type { ListedCall } from '../ledger/observation.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

/** Final, or the status of an open call. */
type Standing = 'final' | CallStatus

/**
 * Calls that a list shows with an earlier status than before: open after a final status, or initiated after ongoing. That may
 * be true, or the answer may be outdated, such as a cached page or a server that lags behind. An undocumented status without
 * an end counts as open. callwatch accepts a regression if Get Call confirms it, or if two polls in a row list it and Get
 * Call did not answer.
 */
export function statusRegressions() {
  /** The ids of regressions that the previous poll listed, and that this poll listed. */
  let previous = new Set<string>()
  let current = new Set<string>()
  /** What the pages of this group showed last. The state does not have it yet. */
  const inChunk = new Map<string, Standing>()

  return {
    /** Call it when a poll starts. */
    startPoll: () => {
      previous = current
      current = new Set()
    },
    /** Call it after the pages of one commit. Before the next page, the state has these calls, or the poll has failed. */
    endChunk: () => inChunk.clear(),
    /** The calls of a page without regressions that are not accepted yet. */
    withhold: (calls: readonly ListedCall[], state: LedgerState) =>
      calls.filter((call) => {
        if (isRegression(call, state, inChunk.get(call.id)) && !previous.has(call.id)) {
          current.add(call.id)
          return false
        }
        if (!('phase' in call)) inChunk.set(call.id, finalStatus(call) === undefined ? call.status : 'final')
        return true
      }),
    /** The calls that this poll has withheld and that Get Call must confirm. */
    unconfirmed: (state: LedgerState): TrackedCall[] => [...current].flatMap((id) => state.calls.get(id) ?? []),
    /** Call it after an answer of Get Call. The next regression in a list is then a new one. */
    answered: (id: string) => void current.delete(id),
  }
}

/**
 * Whether an answer shows a call with an earlier status than before.
 *
 * @param before its standing, if it is not that of the state
 */
export function isRegression(call: ListedCall, state: LedgerState, before?: Standing): boolean {
  // Nearly every call is unchanged or final.
  if ('phase' in call || finalStatus(call) !== undefined) return false
  const standing = before ?? standingOf(call.id, state)
  return standing === 'final' || (standing === 'ongoing' && call.status === 'initiated')
}

/** Undefined for a call that is lost or not tracked: nothing that a list shows of it is a regression. */
function standingOf(id: string, state: LedgerState): Standing | undefined {
  const phase = state.calls.phase(id)
  if (phase === 'baseline') return 'final'
  if (phase === 'open') return state.open.get(id)?.status
  if (phase !== 'final') return undefined
  const call = state.calls.get(id)!
  // A final call keeps its end when it is open again. With an undocumented status, only `retainUntil` shows that it is.
  const isOpen = finalStatus(call) === undefined || (call.status === 'other' && call.retainUntil !== undefined)
  return isOpen ? call.status : 'final'
}
