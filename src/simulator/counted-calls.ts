import type { LedgerEvent } from './ledger.ts'

/** Times in seconds since 1970. */
export type TruthOptions = {
  /** When the daemon's store first knew the target. */
  created: number
  /** `skip`: calls that were over before `created` count nowhere. */
  baseline: 'skip' | 'count'
  /** The moment whose values are wanted: later events are not looked at. */
  now: number
  /** Calls that were over before this count nowhere either; absent: none are too old. */
  horizon?: number
}

/** What became of one call: its first event, the first that is final, and its last. */
export type CountedCall = { first: LedgerEvent; final?: LedgerEvent; last: LedgerEvent }

const SPELLINGS: Record<string, string> = { cancelled: 'canceled', missed: 'unanswered', busy: 'rejected' }
const FINAL = ['ended', 'unanswered', 'rejected', 'canceled']
const OPEN = ['initiated', 'ongoing']

/** The calls that a right daemon has counted at `now` (semantics.md, Which calls count), in the order of the events. */
export function countedCalls(events: readonly LedgerEvent[], options: TruthOptions): CountedCall[] {
  const calls = new Map<string, CountedCall>()
  for (const event of events) {
    if (event.at > options.now) continue
    const call = calls.get(event.sessionId) ?? { first: event, last: event }
    if (isFinal(event)) call.final ??= event
    call.last = event
    calls.set(event.sessionId, call)
  }
  return [...calls.values()].filter((call) => counts(call, options))
}

/** The status as it is counted: one of the six, or `other`. */
export function statusLabel(event: LedgerEvent): string {
  const lower = event.status.toLowerCase()
  const status = SPELLINGS[lower] ?? lower
  return FINAL.includes(status) || OPEN.includes(status) ? status : 'other'
}

function isFinal(event: LedgerEvent): boolean {
  const status = statusLabel(event)
  return status === 'other' ? event.endedAt !== undefined : FINAL.includes(status)
}

function counts({ final }: CountedCall, { created, baseline, horizon = -Infinity }: TruthOptions): boolean {
  if (!final) return true
  const ownTime = final.endedAt ?? final.startedAt ?? final.initiatedAt ?? Infinity
  return ownTime >= Math.floor(horizon) && (baseline === 'count' || ownTime >= Math.floor(created))
}
