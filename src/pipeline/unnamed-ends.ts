import type { Clock } from '../clock/clock.ts'
import { COUNTERS } from '../ledger/series.ts'
import type { LedgerState } from '../ledger/state.ts'

/** How long an end waits for other hints, to share a look with them (seconds). */
export const END_SECONDS = 0.5
/** When it is looked again for an end that a look did not show: lists lag behind webhooks (seconds). */
export const REPEAT_SECONDS = [2, 5, 10]

type Shown = Pick<LedgerState, 'open' | 'counters'>

/** No call has this id. */
const UNNAMED = ''

/**
 * Ends of calls that webhooks announce without an id, as the vendor's samples of calls that failed. Changed in place.
 *
 * So many calls are looked for until as many more have failed.
 */
export function unnamedEnds({ monotonic }: Pick<Clock, 'monotonic'>) {
  /** `before` is how many calls had failed until then, if known; `due` is when the next look is due, after so many `looks`. */
  let waiting: { count: number; before: number | undefined; due: number; looks: number } | undefined

  const areShown = (ledger: Shown): boolean =>
    waiting?.before !== undefined && failedCalls(ledger) - waiting.before >= waiting.count

  return {
    due: () => waiting?.due ?? Infinity,
    /** @param ledger the state of the target, if it is loaded */
    add: (ledger: Shown | undefined) => {
      const due = waiting?.looks === 0 ? waiting.due : monotonic() + END_SECONDS
      const { count, before } = waiting ?? { count: 0, before: ledger && failedCalls(ledger) }
      waiting = { count: count + 1, before, due, looks: 0 }
    },
    /** The calls that ring, and an id that makes the look a poll: the call may be one that callwatch has not seen. */
    take: (ledger: Shown): string[] => {
      if (areShown(ledger)) waiting = undefined
      if (waiting === undefined || (waiting.looks > 0 && waiting.due > monotonic())) return []
      return [UNNAMED, ...[...ledger.open.values()].flatMap(({ id, status }) => (status === 'initiated' ? [id] : []))]
    },
    looked: (ids: readonly string[], ledger: Shown) => {
      if (waiting === undefined || !ids.includes(UNNAMED)) return
      const delay = REPEAT_SECONDS[waiting.looks]
      const isOver = delay === undefined || areShown(ledger)
      waiting = isOver ? undefined : { ...waiting, due: monotonic() + delay, looks: waiting.looks + 1 }
    },
  }
}

/** How many calls were not answered, were rejected or canceled. */
function failedCalls({ counters }: Shown): number {
  const isFailed = (key: string) =>
    key.startsWith(COUNTERS.finished.name) && !key.endsWith('|ended') && !key.endsWith('|other')
  return counters.entries().reduce((sum, [key, value]) => (isFailed(key) ? sum + value : sum), 0)
}
