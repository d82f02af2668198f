import { isFinalStatus } from '../calls/call.ts'
import type { LedgerEvent } from '../calls/ledger.ts'

/** Times in seconds since 1970. */
export type CountOptions = {
  /** When the daemon's store first knew the target. */
  created: number
  /** `skip`: calls that were over before `created` count nowhere. */
  baseline: 'skip' | 'count'
  /** The moment whose values are wanted: later events are ignored. */
  now: number
  /** Calls that were over before this count nowhere either; absent: none are too old. */
  horizon?: number
}

/** What happened to one call: its first event, the first that is final, and its last. */
export type CountedCall = { first: LedgerEvent; final?: LedgerEvent; last: LedgerEvent }

/** The calls that a right daemon has counted at `now` (semantics.md, Which calls count), in the order of the events. */
export function countedCalls(events: readonly LedgerEvent[], options: CountOptions): CountedCall[] {
  return [...callsUntil(events, options.now).values()].filter((call) => counts(call, options))
}

/** Every call until `now` (seconds since 1970), by its session id, in the order in which they began. */
export function callsUntil(events: readonly LedgerEvent[], now: number): Map<string, CountedCall> {
  const calls = new Map<string, CountedCall>()
  for (const event of events) {
    if (event.at > now) continue
    const call = calls.get(event.sessionId) ?? { first: event, last: event }
    if (isFinal(event)) call.final ??= event
    call.last = event
    calls.set(event.sessionId, call)
  }
  return calls
}

export function labelsOf({ type, mode, receiverType }: LedgerEvent) {
  return { type, mode, receiver_type: receiverType }
}

/** By its status, or since it has an end. */
export function isFinal({ status, endedAt }: LedgerEvent): boolean {
  return isFinalStatus(status) || endedAt !== undefined
}

/** Whether a call's end, by its own time, was before the second of a moment (seconds since 1970). */
export function wasOverBefore({ endedAt, startedAt, initiatedAt }: LedgerEvent, moment: number): boolean {
  return (endedAt ?? startedAt ?? initiatedAt ?? Infinity) < Math.floor(moment)
}

function counts({ final }: CountedCall, options: CountOptions): boolean {
  const { created, baseline, horizon = -Infinity } = options
  if (!final) return true
  return !wasOverBefore(final, horizon) && (baseline === 'count' || !wasOverBefore(final, created))
}
