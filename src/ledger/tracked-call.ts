import { ownTime, type CallStatus, type FinalStatus, type Labels } from './call.ts'

/**
 * A call that the ledger tracks, and its row in the store: what the service last said, and what was already counted.
 * Immutable: a call that changes gets a new value. Times are UNIX seconds by the service's clock.
 *
 * - `open`: counted as started, not yet finished
 * - `lost`: was open, and the service no longer knows it; it may reappear
 * - `final`: counted as finished, once
 * - `baseline`: was final before the target was set up, and is never counted
 */
export type TrackedCall = {
  readonly id: string
  readonly phase: 'open' | 'lost' | 'final' | 'baseline'
  /** As last served. After the finish it may differ from `finish.status` (anomaly `final_changed`). */
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
  /** Consecutive Get Call requests that the service answered with not found, while the call is open. */
  readonly notFound: number
  /**
   * The call is not evicted before the horizon passes this moment, whatever its times say. It is when the call was lost, or
   * one of its times that is too far in the future to be accepted yet. For a call without an own time, or a final one that
   * is listed as open again, it is when the call was last listed, to about an hour.
   */
  readonly retainUntil: number | undefined
  /** Set of MARK bits. */
  readonly marks: number
}

/** How a call was counted as finished; never changes afterwards. */
export type Finish = {
  readonly status: FinalStatus
  readonly labels: Labels
  /** `endedAt` clamped to [began, known]; `known` where there is none. */
  readonly at: number
  /** When callwatch first saw it final. */
  readonly known: number
  /** The same moment by the host's clock, which dates rule evaluations as well. */
  readonly knownHostTime: number
  /** As known at that moment: when it began, and, if it was answered, how long it rang and lasted (seconds). */
  readonly began: number
  readonly answerDelay: number | undefined
  readonly duration: number | undefined
  /** Call-level minutes. */
  readonly audio: number
  readonly video: number
}

/** What was counted or noted of a call once, and must not be again. */
export const MARK = {
  durationObserved: 1 << 0,
  answerDelayObserved: 1 << 1,
  participantsObserved: 1 << 2,
  recordingSeen: 1 << 3,
  recordedCounted: 1 << 4,
  /** It finished, and no answer had its list of participants: one Get Call request is due. */
  detailsWanted: 1 << 5,
  finalChanged: 1 << 6,
  unknownStatus: 1 << 7,
  labelsChanged: 1 << 8,
  badValue: 1 << 9,
  timeReversed: 1 << 10,
  tooManyParticipants: 1 << 11,
  repeatedId: 1 << 12,
  /** It was final when the target was set up, and is counted nevertheless: it has no events. */
  overAtSetUp: 1 << 13,
} as const

/** Whether the counters have the call: then its row is kept after its eviction. */
export function isCounted({ phase }: Pick<TrackedCall, 'phase'>): boolean {
  return phase !== 'baseline'
}

/** When the call finished or was lost, as the history has it (UNIX seconds); undefined where it is not in it. */
export function inHistorySince({ phase, finish, retainUntil }: TrackedCall): number | undefined {
  return phase === 'lost' ? retainUntil : phase === 'baseline' ? undefined : finish?.at
}

/** When the call began, as far as known (UNIX seconds). */
export function beganAt(call: Pick<TrackedCall, 'initiatedAt' | 'startedAt' | 'endedAt' | 'firstSeen'>): number {
  return call.initiatedAt ?? call.startedAt ?? call.endedAt ?? call.firstSeen
}

/** What decides when a call is evicted. */
export type EvictionTimes = Pick<
  TrackedCall,
  'phase' | 'firstSeen' | 'initiatedAt' | 'startedAt' | 'endedAt' | 'retainUntil'
> & {
  finish: Pick<Finish, 'known'> | undefined
}

/** The call is evicted once the horizon passes this moment (UNIX seconds). Open calls never are. */
export function evictAfter(call: EvictionTimes): number {
  if (call.phase === 'open') return Infinity
  // Nor before its end was seen: an `endedAt` that arrives late would make it look new.
  return Math.max(ownTime(call) ?? 0, call.retainUntil ?? 0, call.finish?.known ?? call.firstSeen)
}
