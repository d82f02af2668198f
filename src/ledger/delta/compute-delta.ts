import { finalStatus, ownTime, type SeenCall } from '../call.ts'
import { newDraft, type DeltaDraft } from './delta-draft.ts'
import { horizon, isExcluded } from '../horizon.ts'
import { countInvited } from './invited.ts'
import type { ServiceAnswer, Observation, PollSuccess } from '../observation.ts'
import {
  baselineCall,
  labelsNow,
  observeCall,
  observeNotFound,
  userMinutesOf,
  type AnswerContext,
} from './observe-call.ts'
import { identify } from '../identity.ts'
import { COUNTERS, seriesKey } from '../series.ts'
import type { Delta, LedgerState, SyncState } from '../state.ts'
import { evictAfter, inHistorySince, MARK, type TrackedCall } from '../tracked-call.ts'
import { addUsage, quarterHourOf } from '../usage.ts'

export type LedgerOptions = {
  /** How long before now a call may still change, and how long it is tracked (seconds). */
  lookback: number
  /** Whether calls that were final before the target was created are excluded. */
  baseline: 'skip' | 'count'
  /** Whether a finished call that was listed without participants is requested once. */
  details: 'missing' | 'never'
}

/**
 * The sessions of calls that would count as new, but may have been counted and evicted. Pass the stored rows of these sessions to
 * {@link computeDelta}. Empty before the first complete sweep, because nothing is evicted until then.
 */
export function possiblyEvicted(state: LedgerState, { answers }: Observation, options: LedgerOptions): string[] {
  if (state.sync.lastSweepBegan === undefined) return []
  const oldest = horizon(state.sync, options.lookback)
  return answers.flatMap(({ calls }) =>
    calls.flatMap((seen) =>
      'phase' in seen || state.calls.has(seen.id) || isExcluded(seen, oldest) ? [] : seen.session,
    ),
  )
}

/** The rows of evicted calls, by session. */
export type EvictedCalls = ReadonlyMap<string, readonly TrackedCall[]>
const NO_CALLS: EvictedCalls = new Map()

/** What an observation changes, while it is being computed. */
type Computation = {
  state: LedgerState
  draft: DeltaDraft
  options: LedgerOptions
  evictedCalls: EvictedCalls
  /** Calls before this time are excluded (UNIX seconds). */
  oldest: number
  /** The latest value of a tracked call. */
  find: (id: string) => TrackedCall | undefined
}

/**
 * Computes what an observation changes. Pure.
 *
 * @param evictedCalls A call that is listed again continues from its row.
 * @returns undefined if nothing changed
 */
export function computeDelta(
  state: LedgerState,
  observation: Observation,
  options: LedgerOptions,
  evictedCalls = NO_CALLS,
): Delta | undefined {
  const draft = newDraft(state.sync)
  const { delta } = draft
  const [first] = observation.answers
  if (first !== undefined) delta.sync = setClock(delta.sync, first, observation)
  const oldest = horizon(delta.sync, options.lookback)
  const find = (id: string) => delta.calls.get(id) ?? state.calls.get(id)
  const computation = { state, draft, options, evictedCalls, oldest, find }
  for (const answer of observation.answers) readAnswer(answer, computation)
  if (observation.success) recordSuccess(observation.success, computation)
  const hasChanged =
    observation.success !== undefined ||
    delta.sync.clockSkew !== state.sync.clockSkew ||
    delta.calls.size > 0 ||
    delta.counters.size > 0
  return hasChanged ? delta : undefined
}

function readAnswer(
  { source, serviceTime, hostTime, calls, notFound, invalid }: ServiceAnswer,
  computation: Computation,
): void {
  const { draft, options, find } = computation
  const answer: AnswerContext = {
    serviceTime,
    hostTime,
    source,
    askForDetails: options.details === 'missing',
    listedPrecision: Math.min(3600, options.lookback / 10),
  }
  for (const row of calls) {
    // The client found that the answer equals the tracked call.
    if ('phase' in row) continue
    const seen = amongEvicted(row, answer, computation)
    const before = find(seen.id)
    const evicted = computation.evictedCalls.get(seen.session)?.find(({ id }) => id === seen.id)
    const after = track(before, evicted, { seen, answer }, computation)
    // An evicted call is tracked again even if the answer shows nothing new.
    if (after !== undefined && after !== before) recordChange(draft, before ?? evicted, after)
  }
  for (const id of notFound) recordAbsence(id, serviceTime, computation)
  for (const [reason, items] of Object.entries(invalid)) draft.add(seriesKey(COUNTERS.invalidItems, reason), items)
}

/** Records that a call was not found, or that a sweep has not shown it. */
function recordAbsence(id: string, now: number, { draft, find }: Computation): void {
  const before = find(id)
  const after = before && observeNotFound(before, now, draft)
  if (after !== undefined && after !== before) recordChange(draft, before, after)
}

/**
 * Changes a call, its user minutes and the people whom it invited, and marks the quarters of an hour whose rollups that changes. A lost
 * call that reappears leaves the quarter in which it was lost.
 */
function recordChange(draft: DeltaDraft, before: TrackedCall | undefined, after: TrackedCall): void {
  const { calls, stale, userMinutes } = draft.delta
  calls.set(after.id, after)
  for (const call of [before, after]) {
    const at = call && inHistorySince(call)
    if (at !== undefined) stale.add(quarterHourOf(at))
  }
  const more = userMinutesOf(after) - userMinutesOf(before)
  if (more !== 0) addUsage(userMinutes, quarterHourOf(after.finish!.known), more)
  countInvited(before, after, draft)
}

/** A call as an answer shows it. */
type SeenIn = { seen: SeenCall; answer: AnswerContext }

/** The row of a call that is not tracked, with the id of the evicted call that it is, or with an id that no call of its session has. */
function amongEvicted(row: SeenCall, { serviceTime }: AnswerContext, computation: Computation): SeenCall {
  const { evictedCalls, draft, oldest, find } = computation
  const calls = evictedCalls.get(row.session)
  if (calls === undefined || find(row.id) !== undefined || isExcluded(row, oldest)) return row
  const isReused = draft.delta.sync.reusesSessions === true
  // One that is tracked again was shown.
  const isShown = (id: string) => find(id) !== undefined
  const [id = row.id] = identify([row], calls, { now: serviceTime, isReused, isTooOld: () => false, isShown })
  return { ...row, id }
}

function track(
  tracked: TrackedCall | undefined,
  evicted: TrackedCall | undefined,
  seenIn: SeenIn,
  computation: Computation,
): TrackedCall | undefined {
  const { seen, answer } = seenIn
  const { draft, oldest } = computation
  if (tracked !== undefined) return trackAgain(tracked, seenIn, computation)
  if (isExcluded(seen, oldest)) return undefined
  if (evicted === undefined) return trackNew(seenIn, computation)
  // The call was listed again after its eviction. It is tracked for as long as any other call.
  const listedAgain = observeCall(evicted, seen, answer, draft)
  return { ...listedAgain, retainUntil: Math.max(listedAgain.retainUntil ?? 0, answer.serviceTime) }
}

function trackNew({ seen, answer }: SeenIn, { draft, options, oldest }: Computation): TrackedCall {
  const { delta } = draft
  if (seen.id !== seen.session) delta.sync = { ...delta.sync, reusesSessions: true }
  const own = ownTime(seen)
  // A call with another time far in the future is tracked, although its own time may be before the horizon.
  const isBeforeHorizon = own !== undefined && own < oldest
  const wasFinal = finalStatus(seen) !== undefined && (isBeforeHorizon || isBaseline(own, delta.sync))
  if (!wasFinal) return observeCall(undefined, seen, answer, draft)
  if (isBeforeHorizon || options.baseline === 'skip') return baselineCall(undefined, seen, answer)
  // The call counts, but has no events.
  return observeCall(undefined, seen, { ...answer, marks: MARK.overAtSetUp }, draft)
}

function trackAgain(before: TrackedCall, { seen, answer }: SeenIn, { draft }: Computation): TrackedCall {
  if (before.phase !== 'baseline') return observeCall(before, seen, answer, draft)
  // It counts from now on, as if it were new, if it is open again, such as a meeting that continues.
  if (finalStatus(seen) !== undefined) return baselineCall(before, seen, answer)
  return observeCall(undefined, { ...seen, ...labelsNow(before.labels, seen) }, answer, draft)
}

/** Whether a final call ended before the target was created. */
function isBaseline(own: number | undefined, { created, lastSweepBegan }: SyncState): boolean {
  return own === undefined ? lastSweepBegan === undefined : Math.floor(own) < Math.floor(created)
}

function recordSuccess(success: PollSuccess, computation: Computation): void {
  const { endsSweep, beganServiceTime, beganHostTime, serviceTime, hostTime, listed, list, replaced = [] } = success
  const { state, draft, options, find } = computation
  const { delta } = draft
  for (const id of replaced) recordAbsence(id, serviceTime, computation)
  const { lastSuccess: previousSuccess, confirmedSweep } = state.sync
  const times = { lastSuccess: serviceTime, lastSuccessHostTime: hostTime }
  delta.sync = { ...delta.sync, ...times, previousSuccess, list }
  if (!endsSweep) return
  const lastSweepBegan = steadyTime(delta.sync, beganServiceTime, beganHostTime)
  const swept: SyncState = {
    ...delta.sync,
    lastSweepBegan,
    ...(success.isConfirmed === true && {
      confirmedSweep: lastSweepBegan,
      ...(confirmedSweep !== undefined && { horizonSweep: confirmedSweep }),
    }),
  }
  const newHorizon = horizon(swept, options.lookback)
  delta.sync = { ...swept, horizon: newHorizon, excluded: countExcluded(listed, computation) }
  if (isPastCounted(state.sync, delta.sync, options))
    delta.sync = { ...delta.sync, past: { from: newHorizon, readAt: serviceTime } }
  for (const id of new Set([...state.calls.evictable(newHorizon), ...delta.calls.keys()])) {
    const call = find(id)!
    if (evictAfter(call) < newHorizon) delta.evicted.push(withoutRequest(call, draft))
  }
}

/** A call whose details are no longer requested: who was invited to it stays unknown. */
function withoutRequest(call: TrackedCall, draft: DeltaDraft): TrackedCall {
  if ((call.marks & MARK.detailsWanted) === 0) return call
  const after = { ...call, marks: call.marks & ~MARK.detailsWanted }
  recordChange(draft, call, after)
  return after
}

/** Whether a sweep is the first confirmed one, and all calls back to its horizon are counted. */
function isPastCounted(before: SyncState, after: SyncState, { baseline }: LedgerOptions): boolean {
  const isFirst = before.confirmedSweep === undefined && after.confirmedSweep !== undefined
  return isFirst && baseline === 'count' && after.excluded.baseline === 0
}

function countExcluded(listed: ReadonlySet<string>, { state, draft }: Computation): SyncState['excluded'] {
  let baseline = 0
  let beforeHorizon = 0
  for (const id of listed) {
    const phase = draft.delta.calls.get(id)?.phase ?? state.calls.phase(id)
    if (phase === undefined) beforeHorizon += 1
    else if (phase === 'baseline') baseline += 1
  }
  return { baseline, beforeHorizon }
}

/** callwatch trusts that the service's clock is ahead of the host's once it has been for this long (seconds). */
export const STABLE_SECONDS = 3600

/**
 * When a sweep began, for the horizon. If the service's clock or the host's clock steps, the earlier time counts, and the
 * result never moves back. So no clock step evicts a call that will be listed again.
 */
function steadyTime(
  { lastSweepBegan = -Infinity, clockSkew = 0, clockSkewSince = -Infinity }: SyncState,
  began: number,
  hostBegan: number,
): number {
  const isStable = hostBegan - clockSkewSince >= STABLE_SECONDS
  return Math.max(lastSweepBegan, Math.min(began, hostBegan + (isStable ? clockSkew : Math.min(0, clockSkew))))
}

/**
 * The first answer decides when the target was set up, by the service's clock: when this process opened it, so that a call counts as
 * ended since then although the first polls failed. Neither what the host's clock was then is used, since it may have been set
 * meanwhile, nor when another process opened it before: nothing but a host's clock, which may have been days behind, says how long
 * ago that was. After that only `clockSkew` changes, when one of the clocks steps. A difference within the resolution of the `Date` header is
 * none.
 */
function setClock(
  sync: SyncState,
  { serviceTime, hostTime }: ServiceAnswer,
  { clockSkew, opened = sync.created }: Observation,
): SyncState {
  if (sync.clockSkew !== undefined) {
    const hasStepped = clockSkew !== undefined && Math.abs(clockSkew - sync.clockSkew) >= 2
    return hasStepped ? { ...sync, clockSkew, clockSkewSince: hostTime } : sync
  }
  const difference = clockSkew ?? serviceTime - hostTime
  const skew = Math.abs(difference) < 2 ? 0 : difference
  const since = skew === 0 ? {} : { clockSkewSince: hostTime }
  return { ...sync, clockSkew: skew, ...since, created: Math.min(opened + skew, hostTime + difference) }
}
