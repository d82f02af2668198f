import { finalStatus } from '../ledger/call.ts'
import type { LedgerState } from '../ledger/state.ts'
import type { ListedCall } from '../ledger/observation.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

/**
 * Calls that a list shows in an earlier status than they had: open after a final status, or initiated after ongoing. That
 * may be true, or the answer may be outdated: a cached page, a server that lags behind. A regression is accepted once
 * Get Call shows it, or when two polls in a row list it and Get Call has not answered.
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

export function statusRegressions(): StatusRegressions {
  /** Ids of the regressions that the previous poll listed, and this one. */
  let previous = new Set<string>()
  let current = new Set<string>()
  /** The latest status on the pages of this group, which the state does not have yet. */
  const inChunk = new Map<string, 'ongoing' | 'final'>()

  const isRegression = (call: ListedCall, state: LedgerState): boolean => {
    // Nearly every call is unchanged or final.
    if ('phase' in call || (call.status !== 'initiated' && call.status !== 'ongoing')) return false
    const before = inChunk.get(call.id)
    if (before === 'final' || (before === 'ongoing' && call.status === 'initiated')) return true
    const phase = state.calls.phase(call.id)
    if (phase === 'baseline') return true
    if (phase === 'final') return finalStatus(state.calls.get(call.id)!) !== undefined
    return call.status === 'initiated' && state.open.get(call.id)?.status === 'ongoing'
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
        if (!('phase' in call) && call.status !== 'initiated')
          inChunk.set(call.id, call.status === 'ongoing' ? 'ongoing' : 'final')
        return true
      }),
    unconfirmed: (state) => [...current].flatMap((id) => state.calls.get(id) ?? []),
    answered: (id) => current.delete(id),
  }
}
