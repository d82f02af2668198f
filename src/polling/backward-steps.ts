import { finalStatus } from '../ledger/call.ts'
import type { LedgerState } from '../ledger/state.ts'
import type { ListedCall } from '../ledger/observation.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

/**
 * Calls that a list shows in an earlier state than they were seen in: open though they are over, or ringing though they
 * were answered. It may be true, and it may be an old answer: a cached page, a server that lags behind. Such a step is
 * believed once Get Call shows it, or once two polls in a row list it and Get Call could not be asked.
 */
export type BackwardSteps = {
  /** Begins a poll. */
  begin: () => void
  /** What pages have shown so far is committed: from now on the state knows it. */
  committed: () => void
  /** Takes out of a page's calls those whose step back is not believed yet. */
  withhold: (calls: readonly ListedCall[], state: LedgerState) => ListedCall[]
  /** Calls to be asked for, which this poll has withheld. */
  doubtful: (state: LedgerState) => TrackedCall[]
  /** Get Call has answered: what a list says of the call is no news until then. */
  answered: (id: string) => void
}

export function backwardSteps(): BackwardSteps {
  /** Ids that the poll before listed so, and those that this one does. */
  let before = new Set<string>()
  let now = new Set<string>()
  /** How far calls had come by earlier pages, which are not committed yet. */
  const shown = new Map<string, 'ongoing' | 'over'>()

  const isBackward = (call: ListedCall, state: LedgerState): boolean => {
    // Nearly every call: it says nothing new, or is over.
    if ('phase' in call || (call.status !== 'initiated' && call.status !== 'ongoing')) return false
    const known = shown.get(call.id)
    if (known === 'over' || (known === 'ongoing' && call.status === 'initiated')) return true
    const phase = state.calls.phase(call.id)
    if (phase === 'baseline') return true
    if (phase === 'final') return finalStatus(state.calls.get(call.id)!) !== undefined
    return call.status === 'initiated' && state.open.get(call.id)?.status === 'ongoing'
  }

  return {
    begin: () => {
      before = now
      now = new Set()
    },
    committed: () => shown.clear(),
    withhold: (calls, state) =>
      calls.filter((call) => {
        if (isBackward(call, state) && !before.has(call.id)) {
          now.add(call.id)
          return false
        }
        if (!('phase' in call) && call.status !== 'initiated')
          shown.set(call.id, call.status === 'ongoing' ? 'ongoing' : 'over')
        return true
      }),
    doubtful: (state) => [...now].flatMap((id) => state.calls.get(id) ?? []),
    answered: (id) => now.delete(id),
  }
}
