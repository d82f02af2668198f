import { finalStatus, labelsOf, ownTime, type Labels, type SeenCall } from '../call.ts'
import { isEqual, MEASURES, minutesOf, servedMinutes } from './minutes.ts'
import { knownSince, type SyncState } from '../state.ts'
import type { LedgerOptions } from './compute-delta.ts'
import { horizon } from '../horizon.ts'
import { MARK, type Finish, type TrackedCall } from '../tracked-call.ts'

/** What the ledger may have counted differently, and with which anomalies it may have noticed that. */
export const DIFFERENCES = ['call', 'rows', 'status', 'labels', ...MEASURES.map(minutesOf)] as const
export const KNOWN_DIFFERENCES = ['final_changed', 'labels_changed'] as const

/** A value of a call that the ledger counted differently from what the service shows now. */
export type Discrepancy = {
  what: (typeof DIFFERENCES)[number]
  counted: string | number
  served: string | number
  /** The anomaly with which the ledger already counted the difference; undefined if the ledger did not notice it. */
  known?: (typeof KNOWN_DIFFERENCES)[number]
}

/**
 * The result of comparing a call as the service shows it with what the ledger counted.
 *
 * - `equal`: final, and counted with the same values
 * - `open`: not final, and tracked; its values may still change
 * - `new`: not final, and not tracked
 * - `note`: differs only in what the ledger already counted as an anomaly
 * - `difference`: final, but the ledger counted other values, or does not know that it is final
 * - `baseline`, `ignored`, `lost`: not counted, as the rules say
 */
export type Verdict =
  | { kind: 'equal' | 'open' | 'new' | 'baseline' | 'ignored' | 'lost' }
  | { kind: 'note' | 'difference'; discrepancies: Discrepancy[] }

/**
 * Compares a call as the service shows it with its row. It shares with compute-delta.ts how an answer is read, when a call is final and
 * which minutes an answer has (minutes.ts), but not how they are counted, so that a mistake there is found here.
 *
 * @param counted the call's row; undefined if it has none
 */
export function compareCall(
  counted: TrackedCall | undefined,
  seen: SeenCall,
  sync: SyncState,
  options: Pick<LedgerOptions, 'lookback'>,
): Verdict {
  const final = finalStatus({ status: seen.status, endedAt: seen.endedAt ?? counted?.endedAt })
  if (counted === undefined) {
    if (final === undefined) return { kind: 'new' }
    return uncounted(ownTime(seen), sync, options) ?? difference('call', 'unknown', final)
  }
  if (counted.phase === 'baseline') return { kind: 'baseline' }
  if (counted.finish === undefined) {
    const isLost = counted.phase === 'lost'
    if (final !== undefined) return difference('status', isLost ? 'lost' : counted.status, final)
    return { kind: isLost ? 'lost' : 'open' }
  }
  return compareFinished(counted, counted.finish, seen)
}

/** Why a final call has no row; undefined if it should have one. */
function uncounted(
  own: number | undefined,
  sync: SyncState,
  { lookback }: Pick<LedgerOptions, 'lookback'>,
): Verdict | undefined {
  if (own !== undefined && own < horizon(sync, lookback)) return { kind: 'ignored' }
  return wasFinalBefore(own, sync) ? { kind: 'baseline' } : undefined
}

/**
 * Whether a final call from before the horizon must have a row, since it ended when all calls were counted. If it has none, the ledger
 * has missed it.
 *
 * @param expired when the latest call finished whose row was deleted (UNIX seconds)
 */
export function isMissed(seen: SeenCall, sync: SyncState, expired: number): boolean {
  const own = ownTime(seen)
  return own !== undefined && own >= knownSince(sync) && own > expired
}

/** The labels that the service shows for a call. A label that the answer omits keeps its last value. */
export function servedLabels(counted: TrackedCall | undefined, { type, mode, receiverType }: SeenCall): Labels {
  const last = counted?.labels ?? labelsOf('other', 'other', 'other')
  return labelsOf(type ?? last.type, mode ?? last.mode, receiverType ?? last.receiverType)
}

/**
 * The minutes that the service shows for a final call, in the order of MEASURES. A value that the answer omits keeps its last
 * value.
 */
export function lastMinutes(counted: TrackedCall | undefined, seen: SeenCall): number[] {
  const served = servedMinutes(seen, servedLabels(counted, seen).type, true)
  return served.map((value, i) => value ?? counted?.minutes[i] ?? 0)
}

function compareFinished(counted: TrackedCall, finish: Finish, seen: SeenCall): Verdict {
  const discrepancies: Discrepancy[] = []
  const noted = (known: (typeof KNOWN_DIFFERENCES)[number]) => (counted.marks & MARK[known]) !== 0 && { known }
  if (seen.status !== finish.status)
    discrepancies.push({ what: 'status', counted: finish.status, served: seen.status, ...noted('final_changed') })
  const labels = servedLabels(counted, seen)
  if (labels !== finish.labels) {
    const shown = { counted: spell(finish.labels), served: spell(labels) }
    discrepancies.push({ what: 'labels', ...shown, ...noted('labels_changed') })
  }
  for (const [i, served] of lastMinutes(counted, seen).entries()) {
    const sum = counted.minutes[i]!
    if (!isEqual(sum, served)) discrepancies.push({ what: minutesOf(MEASURES[i]!), counted: sum, served })
  }
  if (discrepancies.length === 0) return { kind: 'equal' }
  return { kind: discrepancies.every(({ known }) => known !== undefined) ? 'note' : 'difference', discrepancies }
}

/** Labels for people: `audio call user`. */
export function spell({ type, mode, receiverType }: Labels): string {
  return `${type} ${mode} ${receiverType}`
}

/** Whether a final call ended before calls were counted. */
function wasFinalBefore(own: number | undefined, sync: SyncState): boolean {
  return own === undefined ? sync.lastSweepBegan === undefined : Math.floor(own) < Math.floor(knownSince(sync))
}

export function difference(what: Discrepancy['what'], counted: string, served: string): Verdict {
  return { kind: 'difference', discrepancies: [{ what, counted, served }] }
}
