import type { SeenParticipant } from './call.ts'
import { keptFinishes, changeAll, type EarlierCalls, type KeptFinishes, type ChangedFinish } from './finished-calls.ts'
import type { KnownList } from './known-list.ts'
import { trackedCalls, type TrackedCalls } from './tracked-calls.ts'
import { MARK, type Finish, type TrackedCall } from './tracked-call.ts'
import type { Step } from './delta/transitions.ts'
import { summedWith, type SummedCalls } from './summed-calls.ts'
import { addUsages } from './usage.ts'

/**
 * The state of one target. Only {@link applyDelta} changes it, after the delta was committed; `earlier` and `usual` alone are read from the
 * store. It changes in place, because copying it in each poll would cost as much as the state is large. All calls are kept as records. `open` and `detailsWanted`
 * also keep the calls that each poll needs as objects.
 */
export type LedgerState = {
  readonly calls: TrackedCalls
  /** The open calls of `calls`. */
  readonly open: Map<string, TrackedCall>
  /** Calls whose list of participants callwatch must request. */
  readonly detailsWanted: Map<string, TrackedCall>
  readonly counters: Map<string, number>
  /** Participant minutes by quarter of an hour (usage.ts). */
  readonly usage: Map<number, number>
  /**
   * User minutes by the quarter of an hour in which callwatch noticed the end of the call. Undefined unless a rule needs them, or if
   * some of those calls have expired.
   */
  userMinutes?: Map<number, number> | undefined
  readonly finished: KeptFinishes
  /** The calls of the earlier windows that rules compare with. Read from the store again and again. */
  earlier?: EarlierCalls<KeptFinishes>
  /** The calls of the times whose share is usual. Read from the store again and again. */
  usual: readonly SummedCalls[]
  sync: SyncState
}

/** How far the ledger is in sync with the service. Times are UNIX seconds by the service's clock unless noted otherwise. */
export type SyncState = {
  /** The sequence number of the last commit. */
  readonly seq: number
  /** When the target was set up (compute-delta.ts); before the first answer, when it was created in the store, by the host's clock. */
  readonly created: number
  /** Since when its calls are counted, if those that had ended when it was created are, and when a sweep had read them all. */
  readonly past?: { readonly from: number; readonly readAt: number } | undefined
  /** By how much the service's clock is ahead of the host's (seconds). The first value was known when `created` was set. */
  readonly clockSkew?: number | undefined
  /** Since when the skew has this value, by the host's clock; undefined if the clocks have always agreed. */
  readonly clockSkewSince?: number
  /** When the last complete sweep began. Undefined before the first one, which ends the baseline. */
  readonly lastSweepBegan?: number | undefined
  /** When the last confirmed sweep began (polling/list/confirmed.ts). */
  readonly confirmedSweep?: number
  /** When the last but one confirmed sweep began, on which the horizon depends. */
  readonly horizonSweep?: number
  /** The horizon of the last complete sweep. Never decreases. Absent before the first complete sweep. */
  readonly horizon?: number
  /** When the last two successful polls ended. Windows reach back to the earlier one. */
  readonly lastSuccess?: number | undefined
  readonly previousSuccess?: number | undefined
  /** The host's clock when the last successful poll ended. */
  readonly lastSuccessHostTime?: number | undefined
  /** The list after the last successful poll; undefined before the first one. */
  readonly list?: KnownList | undefined
  /** Whether the service has shown a session with several calls (identity.ts). */
  readonly reusesSessions?: true
  /** How many calls the last complete sweep excluded. */
  readonly excluded: { readonly baseline: number; readonly beforeHorizon: number }
}

/** A call as an answer changed it. */
export type ChangedCall = {
  call: TrackedCall
  /** Those in the answer. Undefined if it has no list, or if events must not have participants. */
  participants?: readonly SeenParticipant[] | undefined
  /** When callwatch saw it (UNIX seconds). */
  at: number
}

/** A change of a call's status or minutes after its end. */
export type Correction = ChangedCall & { before: TrackedCall }

/** A transition of a call up to its end. Not for a call that was final before the target was created. */
export type Transition = ChangedCall & Step

/** The changes of one observation, which are committed together. */
export type Delta = {
  sync: SyncState
  /** New and changed calls, by id. */
  calls: Map<string, TrackedCall>
  /** Calls that are no longer tracked. */
  evicted: TrackedCall[]
  /** Increments of durable series, by key. */
  counters: Map<string, number>
  /** Participant minutes by quarter of an hour. */
  usage: Map<number, number>
  /** User minutes by the quarter of an hour in which the end of the call was noticed, however late they changed. */
  userMinutes: Map<number, number>
  /** Quarters of an hour in which a call of the history changed (usage.ts). */
  stale: Set<number>
  finishes: Finish[]
  /** Finished calls, also earlier ones, whose recording or end was seen first. */
  changedFinishes: ChangedFinish[]
  transitions: Transition[]
  corrections: Correction[]
  /** Participants that became known after the end of their call. Empty if events must not have participants. */
  details: ChangedCall[]
}

/**
 * Since when all calls of a target are counted.
 *
 * @param now what was known then; default: what is known
 */
export function knownSince({ created, past }: Pick<SyncState, 'created' | 'past'>, now = Infinity): number {
  return past !== undefined && past.readAt <= now ? past.from : created
}

/** The ledger of a new target. `created` in UNIX seconds by the host's clock. */
export function newLedger(created: number): LedgerState {
  return {
    calls: trackedCalls(),
    open: new Map(),
    detailsWanted: new Map(),
    counters: new Map(),
    usage: new Map(),
    finished: keptFinishes(),
    usual: [],
    sync: { seq: 0, created, excluded: { baseline: 0, beforeHorizon: 0 } },
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
  for (const call of delta.calls.values()) indexCall(state, call)
  for (const { id } of delta.evicted) {
    for (const index of [state.calls, state.open, state.detailsWanted]) index.delete(id)
  }
  for (const [key, increment] of delta.counters) state.counters.set(key, (state.counters.get(key) ?? 0) + increment)
  addUsages(state.usage, delta.usage)
  if (state.userMinutes !== undefined) addUsages(state.userMinutes, delta.userMinutes)
  state.usual = state.usual.map((summed) => summedWith(summed, delta.finishes, delta.changedFinishes))
  state.sync = delta.sync
  keepFinishes(state, delta, longestWindow)
}

function keepFinishes({ finished, earlier, sync }: LedgerState, delta: Delta, longestWindow: number): void {
  for (const kept of [finished, ...(earlier === undefined ? [] : [earlier.finished])]) {
    for (const finish of delta.finishes) kept.add(finish)
    changeAll(kept, delta.changedFinishes)
  }
  const polls = [sync.lastSuccess, sync.previousSuccess].filter((time) => time !== undefined)
  if (polls.length > 0) finished.dropBefore(Math.min(...polls) - longestWindow)
}

/** Adds a call to the maps that its phase and marks require. */
export function indexCall(
  { calls, open, detailsWanted }: Pick<LedgerState, 'calls' | 'open' | 'detailsWanted'>,
  call: TrackedCall,
): void {
  calls.set(call)
  if (call.phase === 'open') open.set(call.id, call)
  else open.delete(call.id)
  if ((call.marks & MARK.detailsWanted) !== 0) detailsWanted.set(call.id, call)
  else detailsWanted.delete(call.id)
}
