import { finalStatus, ownTime, type SeenCall } from './call.ts'
import { newDraft } from './delta-draft.ts'
import { horizon, isExcluded } from './horizon.ts'
import type { Answer, Observation, PollEnd } from './observation.ts'
import { baselineCall, observeCall, observeNotFound, resumedCall, type AnswerContext } from './observe-call.ts'
import { ignoreEarlierRow, compareStart, isEarlierRow } from './repeated-id.ts'
import { COUNTERS, seriesKey } from './series.ts'
import type { Delta, LedgerState, SyncState } from './state.ts'
import { evictAfter, type TrackedCall } from './tracked-call.ts'

export type LedgerOptions = {
  /** How far back a call may still change, and how long it is remembered (seconds). */
  lookback: number
  /** Whether calls that were over before the target was set up are passed over. */
  baseline: 'skip' | 'count'
  /** Whether a finished call that was listed without participants is to be asked for, once. */
  details: 'missing' | 'never'
}

/**
 * The ids of calls that would count as new, though they may have been counted and evicted: rows of them in the history
 * are to be given to {@link computeDelta}. None before a first complete look, until which nothing is evicted.
 */
export function unknownIds(state: LedgerState, { answers }: Observation, options: LedgerOptions): string[] {
  if (state.sync.lastComplete === undefined) return []
  const oldest = horizon(state.sync, options.lookback)
  return answers.flatMap(({ calls }) =>
    calls.flatMap((seen) => ('phase' in seen || state.calls.has(seen.id) || isExcluded(seen, oldest) ? [] : seen.id)),
  )
}

const NO_ROWS: ReadonlyMap<string, TrackedCall> = new Map()

/**
 * What an observation changes. Pure: the state is only read, and one state and observation make one delta.
 *
 * @param history rows of calls that were evicted, by id: one that is listed again goes on from its row
 * @returns the delta; undefined where nothing at all changed
 */
export function computeDelta(
  state: LedgerState,
  observation: Observation,
  options: LedgerOptions,
  history = NO_ROWS,
): Delta | undefined {
  const draft = newDraft(state.sync)
  const { delta } = draft
  const find = (id: string) => delta.calls.get(id) ?? state.calls.get(id)
  const askForDetails = options.details === 'missing'
  const [first] = observation.answers
  if (first !== undefined) delta.sync = setClock(delta.sync, first, observation.clockSkew)
  if (observation.listing !== undefined) delta.sync = { ...delta.sync, listing: observation.listing }
  const oldest = horizon(delta.sync, options.lookback)

  for (const { source, now, host, calls, notFound, invalid } of observation.answers) {
    const answer: AnswerContext = {
      now,
      host,
      source,
      askForDetails,
      listedPrecision: Math.min(3600, options.lookback / 10),
    }
    for (const seen of calls) {
      // The client found that it says just what is remembered.
      if ('phase' in seen) continue
      const before = find(seen.id)
      const after = sight(before, seen, answer)
      // A row of the history is tracked again, also where the answer says nothing new of it.
      if (after !== undefined && after !== before) delta.calls.set(seen.id, after)
    }
    for (const id of notFound) {
      const before = find(id)
      const after = before && observeNotFound(before, now, draft)
      if (after !== undefined && after !== before) delta.calls.set(id, after)
    }
    for (const [reason, items] of Object.entries(invalid)) draft.add(seriesKey(COUNTERS.invalidItems, reason), items)
  }
  if (observation.end) conclude(observation.end)
  const isClockSet = delta.sync.clockSkew !== state.sync.clockSkew
  const isNews = observation.end !== undefined || observation.listing !== undefined || isClockSet
  const changed = isNews || delta.calls.size > 0 || delta.counters.size > 0
  return changed ? delta : undefined

  function sight(tracked: TrackedCall | undefined, seen: SeenCall, answer: AnswerContext): TrackedCall | undefined {
    if (tracked === undefined && isExcluded(seen, oldest)) return undefined
    const isOpen = finalStatus(seen) === undefined
    const own = ownTime(seen)
    const before = tracked ?? history.get(seen.id)
    if (before === undefined) {
      const isOld = own !== undefined && own < oldest
      const isExcluded = !isOpen && (isOld || (options.baseline === 'skip' && isBaseline(own)))
      return isExcluded ? baselineCall(undefined, seen, answer) : observeCall(undefined, seen, answer, draft)
    }
    if (isEarlierRow(before, seen)) {
      const noted = ignoreEarlierRow(before, draft)
      // Get Call shows one row alone: where that is another one, it does not know this call.
      return answer.source === 'list' ? noted : observeNotFound(noted, answer.now, draft)
    }
    if (tracked === undefined) {
      // What is listed again after it was evicted is kept for as long as any other call.
      const resumed = observeCall(before, seen, answer, draft)
      return { ...resumed, retainUntil: Math.max(resumed.retainUntil ?? 0, answer.now) }
    }
    if (before.phase !== 'baseline') return observeCall(before, seen, answer, draft)
    // It is open again, or its id was used again after the set-up.
    const isAgain = isOpen || (compareStart(before, seen) === 1 && !isBaseline(own))
    return isAgain ? resumedCall(before, seen, answer, draft) : baselineCall(before, seen, answer)
  }

  function isBaseline(own: number | undefined): boolean {
    const { created, lastComplete } = delta.sync
    return own === undefined ? lastComplete === undefined : Math.floor(own) < Math.floor(created)
  }

  function conclude({ complete, began, hostBegan, now, host, listed, list }: PollEnd): void {
    const success = { lastSuccess: now, previousSuccess: state.sync.lastSuccess, lastSuccessHost: host, list }
    delta.sync = { ...delta.sync, ...success }
    if (!complete) return
    const lastComplete = steadyTime(delta.sync, began, hostBegan)
    const newHorizon = horizon({ ...delta.sync, lastComplete }, options.lookback)
    delta.sync = { ...delta.sync, lastComplete, horizon: newHorizon, excluded: countExcluded(listed) }
    for (const id of new Set([...state.calls.evictable(newHorizon), ...delta.calls.keys()])) {
      const call = find(id)!
      if (evictAfter(call) < newHorizon) delta.evicted.push(call)
    }
  }

  function countExcluded(listed: ReadonlySet<string>): SyncState['excluded'] {
    let baseline = 0
    let beforeHorizon = 0
    for (const id of listed) {
      const phase = delta.calls.get(id)?.phase ?? state.calls.phase(id)
      if (phase === undefined) beforeHorizon += 1
      else if (phase === 'baseline') baseline += 1
    }
    return { baseline, beforeHorizon }
  }
}

/**
 * When a look began, for the horizon: where the service's clock or the host's makes a step, the earlier of the two is
 * believed, and the horizon never goes back. So no step makes callwatch forget a call that will be listed again.
 */
function steadyTime({ lastComplete = -Infinity, clockSkew = 0 }: SyncState, began: number, hostBegan: number): number {
  return Math.max(lastComplete, Math.min(began, hostBegan + clockSkew))
}

/**
 * `created` was read from the host's clock before the service was ever asked. Where the two clocks disagree by more
 * than the `Date` header's own second, it is set right once: everything it is compared with is the service's time.
 * Later only the difference follows a step that one of them made.
 */
function setClock(sync: SyncState, { now, host }: Answer, settled: number | undefined): SyncState {
  if (sync.clockSkew !== undefined) {
    const hasStepped = settled !== undefined && Math.abs(settled - sync.clockSkew) >= 2
    return hasStepped ? { ...sync, clockSkew: settled } : sync
  }
  const difference = settled ?? now - host
  const skew = Math.abs(difference) < 2 ? 0 : difference
  return { ...sync, clockSkew: skew, created: Math.min(sync.created + skew, host + difference) }
}
