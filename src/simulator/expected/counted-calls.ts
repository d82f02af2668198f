import { isFinalStatus } from '../calls/call.ts'
import type { LedgerEvent } from '../calls/ledger.ts'

/** Times are UNIX seconds. */
export type CountOptions = {
  /** When the target was created in the daemon's store. */
  created: number
  /** `skip`: calls that had ended before `created` count nowhere. */
  baseline: 'skip' | 'count'
  /** The time for which values are wanted. Later events are ignored. */
  now: number
  /** Calls that had ended before this time count nowhere either. Default: no call is too old. */
  horizon?: number
}

/** The first event of a call, its first final event, and its last event. */
export type CountedCall = { first: LedgerEvent; final?: LedgerEvent; last: LedgerEvent }

/** The calls that a correct daemon has counted at `now` (semantics.md, Which calls count), in the order of the events. */
export function countedCalls(events: readonly LedgerEvent[], options: CountOptions): CountedCall[] {
  return [...callsUntil(events, options.now).values()].filter((call) => counts(call, options))
}

/** All calls until `now` (UNIX seconds) by their ids in the ledger, in the order in which they began. */
export function callsUntil(events: readonly LedgerEvent[], now: number): Map<string, CountedCall> {
  const calls = new Map<string, CountedCall>()
  for (const event of events) {
    if (event.at > now) continue
    const call = calls.get(event.call) ?? { first: event, last: event }
    if (isFinal(event)) call.final ??= event
    call.last = event
    calls.set(event.call, call)
  }
  return calls
}

export function labelsOf({ type, mode, receiverType }: LedgerEvent) {
  return { type, mode, receiver_type: receiverType }
}

/** Whether the call is final: by its status, or because it has an end. */
export function isFinal({ status, endedAt }: LedgerEvent): boolean {
  return isFinalStatus(status) || endedAt !== undefined
}

/** Whether a call ended, by its own times, before the second of a time (UNIX seconds). */
export function wasOverBefore({ endedAt, startedAt, initiatedAt }: LedgerEvent, moment: number): boolean {
  return (endedAt ?? startedAt ?? initiatedAt ?? Infinity) < Math.floor(moment)
}

function counts({ final }: CountedCall, options: CountOptions): boolean {
  const { created, baseline, horizon = -Infinity } = options
  if (!final) return true
  return !wasOverBefore(final, horizon) && (baseline === 'count' || !wasOverBefore(final, created))
}
