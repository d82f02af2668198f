import { ownTime, type CallStatus, type FinalStatus, type Labels } from './call.ts'

/**
 * What is remembered of a call, and stored as its row: what the service last said, and what was already counted of it.
 * A value is never changed; a call that changed gets a new one. Times are UNIX seconds by the service's clock.
 *
 * - `open`: counted as started, not yet finished
 * - `lost`: it was open, and the service no longer knows it; it may come back
 * - `final`: counted as finished, once
 * - `baseline`: it was over before callwatch first looked, and is never counted
 */
export type TrackedCall = {
  readonly id: string
  readonly phase: 'open' | 'lost' | 'final' | 'baseline'
  /** As last served; after the finish it may differ from `finish.status` (anomaly `final_changed`). */
  readonly status: CallStatus
  readonly labels: Labels
  readonly firstSeen: number
  readonly initiatedAt: number | undefined
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  readonly totalParticipants: number | undefined
  readonly joined: number | undefined
  /** Minutes already counted, in the order of MEASURES. */
  readonly counted: readonly number[]
  readonly finish: Finish | undefined
  /** Cycles in a row in which the service answered that it does not know this open call. */
  readonly notFound: number
  /**
   * It is not evicted before the horizon passes this moment, whatever its times say: when it was lost; for a call without
   * any time of its own, or that is over and listed open again, when it was last listed, to the hour or so; and a time too far ahead to be believed yet.
   */
  readonly retainUntil: number | undefined
  /** Set of MARK bits. */
  readonly marks: number
}

/** How a call was counted as finished; never changes afterwards. */
export type Finish = {
  readonly status: FinalStatus
  readonly labels: Labels
  /** `endedAt` clamped to [began, known], else when it was first seen final. */
  readonly at: number
  /** When callwatch first saw it final. */
  readonly known: number
  /** The same moment by the host's clock, by which evaluations are dated as well. */
  readonly knownHost: number
  /** What was known of the call then: when it began, and (seconds) how long it rang and lasted, where it was answered. */
  readonly began: number
  readonly answerDelay: number | undefined
  readonly duration: number | undefined
  /** Call-level minutes. */
  readonly audio: number
  readonly video: number
}

/** What happened once and must not be counted again. */
export const MARK = {
  durationObserved: 1 << 0,
  answerDelayObserved: 1 << 1,
  participantsObserved: 1 << 2,
  recordingSeen: 1 << 3,
  recordedCounted: 1 << 4,
  /** It finished without a list of participants having been seen: one Get Call is still to ask for it. */
  detailsWanted: 1 << 5,
  finalChanged: 1 << 6,
  unknownStatus: 1 << 7,
  labelsChanged: 1 << 8,
  badValue: 1 << 9,
  timeReversed: 1 << 10,
  tooManyParticipants: 1 << 11,
  repeatedId: 1 << 12,
} as const

/** When the call began (UNIX seconds): the earliest thing known of it. */
export function beganAt(call: Pick<TrackedCall, 'initiatedAt' | 'startedAt' | 'endedAt' | 'firstSeen'>): number {
  return call.initiatedAt ?? call.startedAt ?? call.endedAt ?? call.firstSeen
}

/** What decides how long a call is remembered. */
export type EvictionTimes = Pick<
  TrackedCall,
  'phase' | 'firstSeen' | 'initiatedAt' | 'startedAt' | 'endedAt' | 'retainUntil'
> & {
  finish: Pick<Finish, 'known'> | undefined
}

/** The moment after which the call can be forgotten once the horizon passes it (UNIX seconds); open ones never are. */
export function evictAfter(call: EvictionTimes): number {
  if (call.phase === 'open') return Infinity
  // Not before its own end was seen, either: an `endedAt` that comes late would make it look new.
  return Math.max(ownTime(call) ?? 0, call.retainUntil ?? 0, call.finish?.known ?? call.firstSeen)
}
