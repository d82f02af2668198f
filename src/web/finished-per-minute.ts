import type { FinalStatus } from '../ledger/call.ts'
import { countByStatus } from '../ledger/finished-calls.ts'
import type { Facts, LedgerState } from '../ledger/state.ts'

const MINUTE = 60

/** For each status how many calls finished in each minute, the oldest first; null where callwatch has not looked yet. */
export type FinishedPerMinute = Record<FinalStatus, (number | null)[]>

/**
 * The finished calls of some minutes, by the minute in which they finished (UTC, by the service's clock). The minute of
 * the last good look is not over in it, and what came later is not known.
 *
 * @param first the first minute (UNIX seconds, on a minute)
 * @param count how many minutes
 */
export function finishedPerMinute(
  ledger: Pick<LedgerState, 'finished' | 'facts'>,
  first: number,
  count: number,
): FinishedPerMinute {
  const { facts, finished } = ledger
  const key = `${first}|${count}`
  const known = made.get(facts)
  if (known?.key === key) return known.view
  const until = facts.lastGood ?? -Infinity
  const minutes = Array.from({ length: count }, (_, i) => {
    const from = first + i * MINUTE
    return from > until ? undefined : countByStatus(finished.tallyOfMinute(from))
  })
  const of = (status: FinalStatus) => minutes.map((counts) => counts?.[status] ?? null)
  const view = {
    ended: of('ended'),
    unanswered: of('unanswered'),
    rejected: of('rejected'),
    canceled: of('canceled'),
    other: of('other'),
  }
  made.set(facts, { key, view })
  return view
}

/** Each commit has its own facts: until the next one the minutes stay as they are. */
const made = new WeakMap<Facts, { key: string; view: FinishedPerMinute }>()
