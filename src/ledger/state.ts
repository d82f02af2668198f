import type { SeenParticipant } from './call.ts'
import { keptFinishes, type KeptFinishes } from './finished-calls.ts'
import type { KnownList } from './known-list.ts'
import { trackedCalls, type TrackedCalls } from './tracked-calls.ts'
import { MARK, type Finish, type TrackedCall } from './tracked-call.ts'
import type { TransitionPoint } from './delta/transitions.ts'
import { addUsage } from './usage.ts'

/**
 * The state of one target. Only {@link applyDelta} changes it, and only after the delta was committed. It is changed in place,
 * because a copy in each poll would cost as much as there is, not as much as changed. All calls are kept as records; `open`
 * and `detailsWanted` have those that each poll needs as objects as well.
 */
export type LedgerState = {
  readonly calls: TrackedCalls
  /** The open calls among `calls`. */
  readonly open: Map<string, TrackedCall>
  /** Calls whose list of participants must be requested. */
  readonly detailsWanted: Map<string, TrackedCall>
  readonly counters: Map<string, number>
  /** Participant minutes by quarter of an hour (usage.ts). */
  readonly usage: Map<number, number>
  readonly finished: KeptFinishes
  sync: SyncState
}

/** How far the ledger is in sync with the service. Times are UNIX seconds by the service's clock unless said otherwise. */
export type SyncState = {
  /** The sequence number of the last commit. */
  readonly seq: number
  /** When the target was first set up in the store. */
  readonly created: number
  /** By how much the service's clock is ahead of the host's (seconds). Its first value corrected `created`. */
  readonly clockSkew: number | undefined
  /** Since when it is that, by the host's clock; undefined where the clocks have always agreed. */
  readonly clockSkewSince?: number
  /** When the last complete sweep began; undefined before the first one, which ends the baseline. */
  readonly lastSweepBegan: number | undefined
  /** When the sweep before it began, if the last one listed invalid items: the horizon depends on that one then. */
  readonly horizonSweep?: number
  /** How far back calls count, since the last complete sweep. Never decreases. Absent before the first one. */
  readonly horizon?: number
  /** When the last successful poll ended, and the one before it, to which windows reach back. */
  readonly lastSuccess: number | undefined
  readonly previousSuccess: number | undefined
  /** The host's clock at the end of the last successful poll. */
  readonly lastSuccessHostTime: number | undefined
  /** The list as the last successful poll left it; undefined before the first one. */
  readonly list: KnownList | undefined
  /** How many calls the last complete sweep excluded. */
  readonly excluded: { readonly baseline: number; readonly beforeHorizon: number }
}

/** What changed of a call after its end: its status or minutes. */
export type Correction = {
  before: TrackedCall
  call: TrackedCall
  participants?: Participants
  /** When callwatch saw it (UNIX seconds). */
  at: number
}

/** Of the answer that showed it; undefined where it had none, and where events do not have them. */
type Participants = readonly SeenParticipant[] | undefined

/** The participants of a call that were not known when it ended. */
export type Details = Pick<Correction, 'call' | 'participants' | 'at'>

/** A transition up to the end of a call, which was not final when the target was set up. */
export type Transition = {
  call: TrackedCall
  from: TransitionPoint
  to: TransitionPoint
  observed: boolean
  participants?: Participants
  /** When callwatch saw it (UNIX seconds). */
  at: number
}

/** What one observation changes, in one commit. */
export type Delta = {
  sync: SyncState
  /** New and changed calls by id. */
  calls: Map<string, TrackedCall>
  /** Calls that are no longer tracked. */
  evicted: TrackedCall[]
  /** Increments of durable series by key. */
  counters: Map<string, number>
  /** Participant minutes by quarter of an hour. */
  usage: Map<number, number>
  /** The quarters of an hour in whose history a call changes (usage.ts). */
  stale: Set<number>
  finishes: Finish[]
  transitions: Transition[]
  corrections: Correction[]
  /** None where events do not have participants. */
  details: Details[]
}

/** The ledger of a target that was just set up. `created` in UNIX seconds by the host's clock. */
export function newLedger(created: number): LedgerState {
  const sync: SyncState = {
    seq: 0,
    created,
    clockSkew: undefined,
    lastSweepBegan: undefined,
    lastSuccess: undefined,
    previousSuccess: undefined,
    lastSuccessHostTime: undefined,
    list: undefined,
    excluded: { baseline: 0, beforeHorizon: 0 },
  }
  return {
    calls: trackedCalls(),
    open: new Map(),
    detailsWanted: new Map(),
    counters: new Map(),
    usage: new Map(),
    finished: keptFinishes(),
    sync,
  }
}

/**
 * Applies a committed delta to the state, in place.
 *
 * @param longestWindow how long `finished` keeps calls for windows (seconds)
 * @throws {Error} if the delta was not computed from this state
 */
export function applyDelta(state: LedgerState, delta: Delta, longestWindow: number): void {
  if (delta.sync.seq !== state.sync.seq + 1) {
    throw new Error(`delta ${delta.sync.seq} does not follow state ${state.sync.seq}`)
  }
  for (const call of delta.calls.values()) track(state, call)
  for (const { id } of delta.evicted) {
    for (const index of [state.calls, state.open, state.detailsWanted]) index.delete(id)
  }
  for (const [key, increment] of delta.counters) state.counters.set(key, (state.counters.get(key) ?? 0) + increment)
  for (const [quarterHour, minutes] of delta.usage) addUsage(state.usage, quarterHour, minutes)
  state.sync = delta.sync
  const { lastSuccess, previousSuccess } = delta.sync
  const oldest = Math.min(previousSuccess ?? Infinity, (lastSuccess ?? Infinity) - longestWindow)
  for (const finish of delta.finishes) state.finished.add(finish)
  if (oldest !== Infinity) state.finished.dropBefore(oldest)
}

/** Tracks a call, in the maps that its phase and marks require. */
export function track(
  { calls, open, detailsWanted }: Pick<LedgerState, 'calls' | 'open' | 'detailsWanted'>,
  call: TrackedCall,
): void {
  calls.set(call)
  if (call.phase === 'open') open.set(call.id, call)
  else open.delete(call.id)
  if ((call.marks & MARK.detailsWanted) !== 0) detailsWanted.set(call.id, call)
  else detailsWanted.delete(call.id)
}
