import { ownTime, type AnsweredValues, type CallStatus, type FinalStatus, type Invited, type Labels } from './call.ts'

/**
 * A call that the ledger tracks, and its row in the store: the service's latest values, and what was already counted.
 * Immutable: a call that changes gets a new object. Times are UNIX seconds by the service's clock.
 *
 * - `open`: counted as started, not yet finished
 * - `lost`: was open, and the service no longer knows it; it may reappear
 * - `final`: counted as finished, once
 * - `baseline`: was final before the target was created, and is never counted
 */
export type TrackedCall = Readonly<AnsweredValues> & {
  /** The call id (identity.ts). */
  readonly id: string
  readonly phase: 'open' | 'lost' | 'final' | 'baseline'
  /** The status that the service showed last. It may differ from `finish.status` later (anomaly `final_changed`). */
  readonly status: CallStatus
  readonly labels: Labels
  readonly firstSeen: number
  /** Undefined if it is the id. */
  readonly session: string | undefined
  readonly joined: number | undefined
  /** Minutes already counted, in the order of MEASURES. */
  readonly minutes: readonly number[]
  readonly finish: Finish | undefined
  /** While the call is open: how many Get Call requests in a row the service answered with not found. */
  readonly notFound: number
  /**
   * The call is not evicted before the horizon passes this time, whatever its own times are. For a lost call it is when the
   * call was lost. For a call with a time that is too far in the future to be accepted, it is that time. For a call without
   * an own time, or a final call that is listed as open again, it is when the call was last listed, to about an hour.
   */
  readonly retainUntil: number | undefined
  /** Set of MARK bits. */
  readonly marks: number
}

/** How a call finished, as it was counted. Only `at` may change, once (finish-time.ts), and `invited`. */
export type Finish = {
  readonly status: FinalStatus
  readonly labels: Labels
  /** When the call finished (finish-time.ts). */
  readonly at: number
  /** When callwatch first saw it as final; the first `at` of a call that was over when the target was created. */
  readonly known: number
  /** When callwatch first saw it as final, by the host's clock, which also dates rule evaluations. */
  readonly knownHostTime: number
  /** The values known then: when it began, and, if it was answered, how long it rang and lasted (seconds). */
  readonly began: number
  readonly answerDelay: number | undefined
  readonly duration: number | undefined
  /** Call-level minutes. */
  readonly audio: number
  readonly video: number
  /** As the service said last; undefined if no answer has shown it since the call finished. */
  readonly invited: Invited | undefined
}

/** Bits for what was counted or noted of a call, and must not be counted again. An anomaly has the name of its kind. */
export const MARK = {
  durationObserved: 1 << 0,
  answerDelayObserved: 1 << 1,
  participantsObserved: 1 << 2,
  /** Counted once the call is final. */
  recordingSeen: 1 << 3,
  /** The call finished, and no answer has shown when. */
  endUnknown: 1 << 4,
  /** The call finished, but no answer had its participants. One Get Call request is due. */
  detailsWanted: 1 << 5,
  final_changed: 1 << 6,
  unknown_status: 1 << 7,
  labels_changed: 1 << 8,
  bad_value: 1 << 9,
  time_reversed: 1 << 10,
  too_many_participants: 1 << 11,
  /** The call was final when the target was created, but is counted. It has no events. */
  overAtSetUp: 1 << 13,
  /** A status other than the next one followed, so that each status but the final one may come again. */
  wentBack: 1 << 14,
} as const

/** Whether the call is in the counters. Then its row is kept after its eviction. */
export function isCounted({ phase }: Pick<TrackedCall, 'phase'>): boolean {
  return phase !== 'baseline'
}

/** Whether there are events of the call: none of one that was over at the set-up. */
export const hasEvents = ({ marks }: TrackedCall) => (marks & MARK.overAtSetUp) === 0

/** When a call that is lost was lost (UNIX seconds); undefined for any other call. */
export const lostAt = ({ phase, retainUntil }: TrackedCall) => (phase === 'lost' ? retainUntil : undefined)

/** When the call finished or was lost, for the history (UNIX seconds); undefined if it is not in the history. */
export const inHistorySince = (call: TrackedCall) =>
  call.phase === 'baseline' ? undefined : (lostAt(call) ?? call.finish?.at)

/** When the call began, or the earliest known time after that (UNIX seconds). */
export function beganAt(call: Pick<TrackedCall, 'initiatedAt' | 'startedAt' | 'endedAt' | 'firstSeen'>): number {
  return call.initiatedAt ?? call.startedAt ?? call.endedAt ?? call.firstSeen
}

/** The values that decide when a call is evicted. */
export type EvictionTimes = Pick<
  TrackedCall,
  'phase' | 'firstSeen' | 'initiatedAt' | 'startedAt' | 'endedAt' | 'retainUntil'
> & {
  finish: Pick<Finish, 'known'> | undefined
}

/** The call is evicted once the horizon passes this time (UNIX seconds). Open calls are never evicted. */
export function evictAfter(call: EvictionTimes): number {
  if (call.phase === 'open') return Infinity
  // Nor before its end was seen. Otherwise an `endedAt` that arrives late would make the call look new.
  return Math.max(ownTime(call) ?? 0, call.retainUntil ?? 0, call.finish?.known ?? call.firstSeen)
}
