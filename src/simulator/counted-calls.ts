import type { LedgerEvent, Minutes } from './ledger.ts'

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
  /** Session ids of calls to leave out, such as those that `setAside` names. */
  except?: ReadonlySet<string>
}

/**
 * What happened to one call: its first event, the first that is final, and its last; `isVanished`: it has not come
 * back. Of a call that ended before the set-up and is open again later, the end after that is its first.
 */
export type CountedCall = { first: LedgerEvent; final?: LedgerEvent; last: LedgerEvent; isVanished: boolean }

/** What happened to one call, in figures. Times in whole seconds since 1970. */
export type ExpectedCall = {
  /** As they were at its first final status, or are now. */
  labels: { type: string; mode: string; receiver_type: string }
  /** The first final status, or that of now: one of the six, or `other`. */
  status: string
  final: boolean
  /** Out of the list and unknown to Get Call. */
  isVanished: boolean
  initiatedAt?: number
  startedAt?: number
  endedAt?: number
  /** As the service last showed them. */
  callMinutes: Minutes
  participantMinutes: Minutes
  participants: number
  recorded: boolean
}

const SPELLINGS = new Map([
  ['cancelled', 'canceled'],
  ['missed', 'unanswered'],
  ['busy', 'rejected'],
])
const FINAL = ['ended', 'unanswered', 'rejected', 'canceled']
const OPEN = ['initiated', 'ongoing']

/** The calls that a right daemon has counted at `now` (semantics.md, Which calls count), in the order of the events. */
export function countedCalls(events: readonly LedgerEvent[], options: CountOptions): CountedCall[] {
  const { now, baseline, created } = options
  const calls = callsUntil(events, now, baseline === 'skip' ? created : undefined)
  return [...calls.values()].filter((call) => counts(call, options))
}

/**
 * Every call until `now`, by its session id, in the order in which they began. Times in seconds since 1970.
 *
 * @param created the set-up, where ends before it do not count once the call is open again
 */
export function callsUntil(events: readonly LedgerEvent[], now: number, created = -Infinity): Map<string, CountedCall> {
  const calls = new Map<string, CountedCall>()
  for (const event of events) {
    if (event.at > now) continue
    const call = calls.get(event.sessionId) ?? { first: event, last: event, isVanished: false }
    if (isFinal(event)) call.final ??= event
    else if (call.final && wasOverBefore(call.final, created)) delete call.final
    call.last = event
    call.isVanished = event.event === 'vanished'
    calls.set(event.sessionId, call)
  }
  return calls
}

/** Each call by itself, whether it is counted or not, by its session id; `now` in seconds since 1970. */
export function expectedCalls(events: readonly LedgerEvent[], now: number): Map<string, ExpectedCall> {
  const calls = new Map<string, ExpectedCall>()
  for (const [sessionId, { final, last, isVanished }] of callsUntil(events, now)) {
    const decisive = final ?? last
    const { initiatedAt, startedAt, endedAt, callMinutes, participantMinutes, participants, recorded } = last
    calls.set(sessionId, {
      labels: labelsOf(decisive),
      status: statusLabel(decisive),
      final: final !== undefined,
      isVanished,
      ...(initiatedAt === undefined ? {} : { initiatedAt }),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(endedAt === undefined ? {} : { endedAt }),
      callMinutes,
      participantMinutes,
      participants,
      recorded,
    })
  }
  return calls
}

/** The labels as they are counted: values outside the documented ones are `other`. */
export function labelsOf(event: LedgerEvent): { type: string; mode: string; receiver_type: string } {
  return {
    type: documented(event.type, ['audio', 'video']),
    mode: documented(event.mode, ['call', 'meet', 'presenter']),
    receiver_type: documented(event.receiverType, ['user', 'group']),
  }
}

/** The status as it is counted: one of the six, or `other`. */
export function statusLabel(event: LedgerEvent): string {
  const lower = event.status.toLowerCase()
  const status = SPELLINGS.get(lower) ?? lower
  return FINAL.includes(status) || OPEN.includes(status) ? status : 'other'
}

/** One of the four final statuses, or another with an `endedAt`. */
export function isFinal(event: LedgerEvent): boolean {
  const status = statusLabel(event)
  return status === 'other' ? event.endedAt !== undefined : FINAL.includes(status)
}

/** Whether a call's end, by its own time, was before the second of a moment (seconds since 1970). */
export function wasOverBefore({ endedAt, startedAt, initiatedAt }: LedgerEvent, moment: number): boolean {
  return (endedAt ?? startedAt ?? initiatedAt ?? Infinity) < Math.floor(moment)
}

function documented(value: string, values: string[]): string {
  return values.includes(value) ? value : 'other'
}

function counts({ first, final }: CountedCall, options: CountOptions): boolean {
  const { created, baseline, horizon = -Infinity, except } = options
  if (except?.has(first.sessionId)) return false
  if (!final) return true
  return !wasOverBefore(final, horizon) && (baseline === 'count' || !wasOverBefore(final, created))
}
