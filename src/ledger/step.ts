import { finalStatus, ownTime, type SeenCall } from './call.ts'
import { newDraft } from './delta-draft.ts'
import { baselineCall, observeCall, observeNotFound, resumedCall, type Answer } from './observe-call.ts'
import { ignoreEarlierRow, compareStart, isEarlierRow } from './repeated-id.ts'
import { COUNTERS, seriesKey, type InvalidReason } from './series.ts'
import type { Delta, Facts, LedgerState, ListFacts, ListKnowledge } from './state.ts'
import { rememberedTill, type TrackedCall } from './tracked-call.ts'

/** A call as an answer showed it; one of which that said nothing new is its own row, as it was then. */
export type ListedCall = SeenCall | TrackedCall

/** What one answer of the service showed. */
export type Sighting = {
  source: 'list' | 'get'
  /** The service's clock when it answered, the host's where it shows none (UNIX seconds). */
  now: number
  /** The host's clock at that moment (UNIX seconds). */
  host: number
  calls: ListedCall[]
  /** Calls that were asked for and that the service says it does not know. */
  notFound: string[]
  /** Items of a list that could not be used, by reason. */
  invalid: Partial<Record<InvalidReason, number>>
}

/** How a successful poll ended: it saw whatever is new, or (`whole`) everything back to the horizon that the service shows. */
export type PollEnd = {
  whole: boolean
  /** When it began and ended, by the service's clock and by the host's (UNIX seconds). */
  began: number
  hostBegan: number
  now: number
  host: number
  /** The ids that were listed with a usable status. */
  listed: ReadonlySet<string>
  /** What the next poll can depend on. */
  list: ListKnowledge | undefined
  /** It could not go on to where the service refuses deep pages. */
  limited?: boolean
}

/** A part of a poll: some answers, with the last part what was found out about the list, and of a successful one its end. */
export type Observation = {
  sightings: Sighting[]
  /** By how much the service's clock is ahead of the host's (seconds), as answers have settled; else the first one's. */
  clockSkew?: number | undefined
  listing?: ListFacts
  end?: PollEnd
}

export type LedgerOptions = {
  /** How far back a call may still change, and how long it is remembered (seconds). */
  lookback: number
  /** Whether calls that were over before the target was set up are passed over. */
  baseline: 'skip' | 'count'
  /** Whether a finished call that was listed without participants is to be asked for, once. */
  details: 'missing' | 'never'
}

/**
 * How far back calls count (UNIX seconds): the lookback before the last complete look, or before the set-up. It never goes
 * back: what was evicted before a larger lookback was configured is not taken for new.
 */
export function horizon({ horizon = -Infinity, lastComplete, created }: Facts, lookback: number): number {
  return Math.max(horizon, (lastComplete ?? created) - lookback)
}

/**
 * Whether an unknown call is ignored each time it is listed: it was over before the horizon (UNIX seconds). With a time that
 * is too far ahead it would look new once that time has come, so such a call is tracked.
 */
export function isExcluded(seen: SeenCall, horizon: number): boolean {
  return finalStatus(seen) !== undefined && seen.ahead === undefined && (ownTime(seen) ?? Infinity) < horizon
}

/**
 * The ids of calls that would count as new, though they may have been counted and evicted: rows of them in the history
 * are to be given to {@link step}. None before a first complete look, until which nothing is evicted.
 */
export function unknownIds(state: LedgerState, { sightings }: Observation, options: LedgerOptions): string[] {
  if (state.facts.lastComplete === undefined) return []
  const oldest = horizon(state.facts, options.lookback)
  return sightings.flatMap(({ calls }) =>
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
export function step(
  state: LedgerState,
  observation: Observation,
  options: LedgerOptions,
  history = NO_ROWS,
): Delta | undefined {
  const draft = newDraft(state.facts)
  const { delta } = draft
  const find = (id: string) => delta.calls.get(id) ?? state.calls.get(id)
  const askForDetails = options.details === 'missing'
  const [first] = observation.sightings
  if (first !== undefined) delta.facts = setClock(delta.facts, first, observation.clockSkew)
  if (observation.listing !== undefined) delta.facts = { ...delta.facts, listing: observation.listing }
  const oldest = horizon(delta.facts, options.lookback)

  for (const { source, now, host, calls, notFound, invalid } of observation.sightings) {
    const answer: Answer = { now, host, source, askForDetails, listedPrecision: Math.min(3600, options.lookback / 10) }
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
  const isClockSet = delta.facts.clockSkew !== state.facts.clockSkew
  const isNews = observation.end !== undefined || observation.listing !== undefined || isClockSet
  const changed = isNews || delta.calls.size > 0 || delta.counters.size > 0
  return changed ? delta : undefined

  function sight(tracked: TrackedCall | undefined, seen: SeenCall, answer: Answer): TrackedCall | undefined {
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
    const { created, lastComplete } = delta.facts
    return own === undefined ? lastComplete === undefined : Math.floor(own) < Math.floor(created)
  }

  function conclude({ whole, began, hostBegan, now, host, listed, list }: PollEnd): void {
    const good = { lastGood: now, previousGood: state.facts.lastGood, lastGoodHost: host, list }
    delta.facts = { ...delta.facts, ...good }
    if (!whole) return
    const lastComplete = steadyTime(delta.facts, began, hostBegan)
    const newHorizon = horizon({ ...delta.facts, lastComplete }, options.lookback)
    delta.facts = { ...delta.facts, lastComplete, horizon: newHorizon, excluded: countExcluded(listed) }
    for (const id of new Set([...state.calls.overdue(newHorizon), ...delta.calls.keys()])) {
      const call = find(id)!
      if (rememberedTill(call) < newHorizon) delta.forgotten.push(call)
    }
  }

  function countExcluded(listed: ReadonlySet<string>): Facts['excluded'] {
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
function steadyTime({ lastComplete = -Infinity, clockSkew = 0 }: Facts, began: number, hostBegan: number): number {
  return Math.max(lastComplete, Math.min(began, hostBegan + clockSkew))
}

/**
 * `created` was read from the host's clock before the service was ever asked. Where the two clocks disagree by more
 * than the `Date` header's own second, it is set right once: everything it is compared with is the service's time.
 * Later only the difference follows a step that one of them made.
 */
function setClock(facts: Facts, { now, host }: Sighting, settled: number | undefined): Facts {
  if (facts.clockSkew !== undefined) {
    const hasStepped = settled !== undefined && Math.abs(settled - facts.clockSkew) >= 2
    return hasStepped ? { ...facts, clockSkew: settled } : facts
  }
  const difference = settled ?? now - host
  const skew = Math.abs(difference) < 2 ? 0 : difference
  return { ...facts, clockSkew: skew, created: Math.min(facts.created + skew, host + difference) }
}
