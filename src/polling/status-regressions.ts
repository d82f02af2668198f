import { finalStatus, type CallStatus } from '../ledger/call.ts'
import type { LedgerState } from '../ledger/state.ts'
import type { ListedCall } from '../ledger/observation.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

/**
 * Calls that a list shows in an earlier status than they had: open after a final status, or initiated after ongoing. That
 * may be true, or the answer may be outdated: a cached page, a server that lags behind. An undocumented status without an
 * end is open as well. A regression is accepted once Get Call shows it, or when two polls in a row list it and Get Call has
 * not answered.
 */
export type StatusRegressions = {
  /** Starts a poll. */
  startPoll: () => void
  /** Ends a group of pages that one commit contains. By the next page the state has them, or the poll has failed. */
  endChunk: () => void
  /** A page's calls without the regressions that are not accepted yet. */
  withhold: (calls: readonly ListedCall[], state: LedgerState) => ListedCall[]
  /** The calls that this poll has withheld, which Get Call must confirm. */
  unconfirmed: (state: LedgerState) => TrackedCall[]
  /** Get Call has answered: the next regression in a list is a new one. */
  answered: (id: string) => void
}

/** Final, or the status of an open call. */
type Standing = 'final' | CallStatus

export function statusRegressions(): StatusRegressions {
  /** Ids of the regressions that the previous poll listed, and this one. */
  let previous = new Set<string>()
  let current = new Set<string>()
  /** What the pages of this group showed last, which the state does not have yet. */
  const inChunk = new Map<string, Standing>()

  const isRegression = (call: ListedCall, state: LedgerState): boolean => {
    // Nearly every call is unchanged or final.
    if ('phase' in call || finalStatus(call) !== undefined) return false
    const before = inChunk.get(call.id) ?? standingOf(call.id, state)
    return before === 'final' || (before === 'ongoing' && call.status === 'initiated')
  }

  return {
    startPoll: () => {
      previous = current
      current = new Set()
    },
    endChunk: () => inChunk.clear(),
    withhold: (calls, state) =>
      calls.filter((call) => {
        if (isRegression(call, state) && !previous.has(call.id)) {
          current.add(call.id)
          return false
        }
        if (!('phase' in call)) inChunk.set(call.id, finalStatus(call) === undefined ? call.status : 'final')
        return true
      }),
    unconfirmed: (state) => [...current].flatMap((id) => state.calls.get(id) ?? []),
    answered: (id) => current.delete(id),
  }
}

/** Undefined of a call that is lost or not tracked: whatever a list shows of it is no regression. */
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
