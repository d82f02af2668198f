import { readCall, readFinish, readMarks, readPhase } from './call-record.ts'
import { keptFinishes, type KeptFinishes } from './finished-calls.ts'
import { trackedCalls, type TrackedCalls } from './tracked-calls.ts'
import { MARK, type Finish, type TrackedCall } from './tracked-call.ts'
import type { TransitionPoint } from './transitions.ts'
import { addUsage } from './usage.ts'

/**
 * All that is known of one target. Only {@link apply} changes it, and only after the delta was committed. What it
 * holds is changed in place, the one exception to values that are never changed: copying it for each look would cost what
 * exists instead of what changed. Calls are kept as records; `open` and `detailsWanted` hold those that each look needs as
 * objects as well.
 */
export type LedgerState = {
  readonly calls: TrackedCalls
  /** The open calls among `calls`. */
  readonly open: Map<string, TrackedCall>
  /** Calls whose list of participants is still to be asked for. */
  readonly detailsWanted: Map<string, TrackedCall>
  readonly counters: Map<string, number>
  /** Participant minutes that were counted in each quarter of an hour, by when that began (usage.ts). */
  readonly usage: Map<number, number>
  readonly finished: KeptFinishes
  sync: SyncState
}

/** What is known of the target beside its calls. Times are UNIX seconds by the service's clock unless said otherwise. */
export type SyncState = {
  /** The sequence number of the last commit; each delta moves it on by one. */
  readonly seq: number
  /** When the target was first set up in the store. */
  readonly created: number
  /** By how much the service's clock was ahead of the host's when they first met (seconds); `created` was corrected by it. */
  readonly clockSkew: number | undefined
  /** When the last complete look began; undefined before the first, which ends the baseline. */
  readonly lastComplete: number | undefined
  /** How far back calls count, by the last complete look; only grows. Absent before the first. */
  readonly horizon?: number
  /** When the last good look ended, and the one before it: windows reach back to that one. */
  readonly lastSuccess: number | undefined
  readonly previousSuccess: number | undefined
  /** The host's clock at the end of the last good look. */
  readonly lastSuccessHost: number | undefined
  /** The list as the last good look left it; undefined where its order or its total are not known. */
  readonly list: ListKnowledge | undefined
  /** What was found out about the list as a whole. Absent before the first time. */
  readonly listing?: ListFacts
  /** Calls that the last complete look passed over on purpose. */
  readonly excluded: { readonly baseline: number; readonly beforeHorizon: number }
}

/** What a look can go by that reads the newest calls only. */
export type ListKnowledge = {
  readonly order: 'newest first' | 'oldest first'
  /** How many calls the list had, hidden ones not counted. */
  readonly total: number
  /** Whether a reading to the end has found as many, or that total follows from one that did: callwatch knows or ignores them all. */
  readonly verified: boolean
  /** The most items that a page had. */
  readonly pageSize: number
  /** Ids at the end where the oldest calls are, from the outermost inwards; those that leave the list leave there. */
  readonly end: readonly string[]
}

/** What readings of the list have found out about it, for good. Times are UNIX seconds by the service's clock. */
export type ListFacts = {
  /** When the last reading to the end began that found every page in order; undefined where none has. */
  readonly orderVerifiedAt?: number
  /** When a page was last out of order. */
  readonly orderRefutedAt?: number
  /** How many rows the service counts in its total, and shows on no page. */
  readonly hidden: number
  /** How many the last reading to the end did not find of the total, and when it began. */
  readonly shortfall?: { readonly items: number; readonly at: number }
  /** The number at which the service stops counting: a total as large says nothing. */
  readonly cap?: number
  /** When its total was last found to be wrong: smaller than what its pages show. */
  readonly wrongTotalAt?: number
  /** It answers with an error for a page past the last, in place of an empty page. */
  readonly endsInError?: boolean
  /** How many items the list had at the last good look. */
  readonly size?: number
}

/** One transition as it goes to the live feed. */
export type Transition = {
  call: TrackedCall
  from: TransitionPoint
  to: TransitionPoint
  observed: boolean
  /** When callwatch saw it (UNIX seconds). */
  at: number
}

/** What one observation changes; committed whole or not at all. */
export type Delta = {
  sync: SyncState
  /** New and changed calls by id, each with its whole new value. */
  calls: Map<string, TrackedCall>
  /** Calls that need not be remembered any more. */
  evicted: TrackedCall[]
  /** Increments of durable series by key. */
  counters: Map<string, number>
  /** Participant minutes by quarter of an hour. */
  usage: Map<number, number>
  finishes: Finish[]
  transitions: Transition[]
}

/** What is known of a list that was never read. */
export const NO_LIST_FACTS: ListFacts = { hidden: 0 }

/** A target that was just set up. `created` in UNIX seconds by the host's clock. */
export function newLedger(created: number): LedgerState {
  const sync: SyncState = {
    seq: 0,
    created,
    clockSkew: undefined,
    lastComplete: undefined,
    lastSuccess: undefined,
    previousSuccess: undefined,
    lastSuccessHost: undefined,
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
 * Moves the state on by a committed delta, in place.
 *
 * @param keepFinished how long finished calls stay in the list that windows are counted from (seconds)
 * @throws {Error} when the delta was not made from this very state
 */
export function apply(state: LedgerState, delta: Delta, keepFinished: number): void {
  if (delta.sync.seq !== state.sync.seq + 1) {
    throw new Error(`delta ${delta.sync.seq} does not follow state ${state.sync.seq}`)
  }
  for (const call of delta.calls.values()) track(state, call)
  for (const { id } of delta.evicted) {
    for (const index of [state.calls, state.open, state.detailsWanted]) index.delete(id)
  }
  for (const [key, increment] of delta.counters) state.counters.set(key, (state.counters.get(key) ?? 0) + increment)
  for (const [quarter, minutes] of delta.usage) addUsage(state.usage, quarter, minutes)
  state.sync = delta.sync
  const { lastSuccess, previousSuccess } = delta.sync
  const oldest = Math.min(previousSuccess ?? Infinity, (lastSuccess ?? Infinity) - keepFinished)
  for (const finish of delta.finishes) state.finished.add(finish)
  if (oldest !== Infinity) state.finished.dropBefore(oldest)
}

/**
 * Puts a call where its phase belongs, from its record (call-record.ts). Of most, which are over, no object is made.
 *
 * @param finishedSince when it must have finished to be counted in windows (UNIX seconds)
 */
export function trackRecord(ledger: LedgerState, id: string, record: Uint8Array, finishedSince: number): void {
  const view = new DataView(record.buffer, record.byteOffset)
  if (readPhase(view, 0) === 'open' || (readMarks(view, 0) & MARK.detailsWanted) !== 0) {
    track(ledger, readCall(view, 0, id))
  } else ledger.calls.setRecord(id, record)
  const finish = readFinish(view, 0)
  if (finish !== undefined && finish.at >= finishedSince) ledger.finished.add(finish)
}

/** Puts a call where its phase belongs. */
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
