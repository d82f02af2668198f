import type { Clock } from '../clock/clock.ts'
import { FAILURES } from '../ledger/failure-ratio.ts'
import { sessionOf } from '../ledger/identity.ts'
import { COUNTERS, sumOf } from '../ledger/series.ts'
import type { LedgerState } from '../ledger/state.ts'
import { beganAt } from '../ledger/tracked-call.ts'

/** When an end is looked for, and again if the poll did not show it: lists lag behind webhooks (seconds). */
const DELAYS_SECONDS = [0.5, 5]
/** A call that rings for longer is stuck, and not looked for (seconds). */
const MAX_RINGING_SECONDS = 300
/** Of more ends, the oldest are dropped. */
const MAX_ENDS = 1000

type Shown = Pick<LedgerState, 'open' | 'counters' | 'sync'>
/** `due` is when its next poll is due (monotonic seconds), after so many `polls`. */
type End = { due: number; polls: number }

/**
 * Ends of calls that webhooks announce without an id, like the vendor's samples of calls that failed. Changed in place.
 *
 * An end is looked for until another call has failed, twice at most: not each such webhook is about the end of a call, since in a
 * group each member may reject it.
 */
export function unnamedEnds({ monotonic, wall }: Pick<Clock, 'monotonic' | 'wall'>) {
  let ends: End[] = []
  /** How many calls had failed when that was last compared, if known. */
  let failed: number | undefined
  /** When the ends for the last poll were taken (monotonic seconds). */
  let taken = -Infinity

  /** Drops as many ends as calls have failed since. The newest are most likely shown. */
  function settle(ledger: Shown): void {
    const now = failedCalls(ledger)
    ends.splice(Math.max(0, ends.length - Math.max(0, now - (failed ?? now))))
    failed = now
  }

  return {
    due: () => Math.min(Infinity, ...ends.map(({ due }) => due)),
    /** @param ledger the state of the target, if it is loaded */
    add: (ledger: Shown | undefined) => {
      if (ledger !== undefined) settle(ledger)
      ends = [...ends, { due: monotonic() + DELAYS_SECONDS[0]!, polls: 0 }].slice(-MAX_ENDS)
    },
    /** Whether a poll must look for ends, and the sessions of the calls that ring. */
    takeDue: (ledger: Shown): { isDue: boolean; ringing: string[] } => {
      settle(ledger)
      taken = monotonic()
      const isDue = ends.some(({ due }) => due <= taken)
      const began = wall() + (ledger.sync.clockSkew ?? 0) - MAX_RINGING_SECONDS
      const ringing = [...ledger.open.values()].filter((call) => call.status === 'initiated' && beganAt(call) >= began)
      return { isDue, ringing: isDue ? ringing.map(sessionOf) : [] }
    },
    /** After the poll for those that were taken last. */
    requested: (ledger: Shown) => {
      settle(ledger)
      ends = ends.flatMap((end) => {
        if (end.due > taken) return [end]
        const delay = DELAYS_SECONDS[end.polls + 1]
        return delay === undefined ? [] : [{ due: monotonic() + delay, polls: end.polls + 1 }]
      })
    },
  }
}

/** How many calls were not answered, were rejected or canceled. */
function failedCalls(ledger: Shown): number {
  return sumOf(ledger, COUNTERS.finished, (labels) => FAILURES.some((status) => status === labels.at(-1)))
}
