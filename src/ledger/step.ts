import { finalStatus, ownTime, type SeenCall } from './call.ts'
import { newDraft } from './delta-draft.ts'
import { baselineCall, observeCall, observeNotFound, type Answer } from './observe-call.ts'
import { COUNTERS, seriesKey, type Rejection } from './series.ts'
import type { Delta, Facts, LedgerState, ListKnowledge } from './state.ts'
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
  rejected: Partial<Record<Rejection, number>>
}

/** How a good look ended: it saw whatever is new, or (`whole`) everything back to the horizon that the service shows. */
export type GoodLook = {
  whole: boolean
  /** When it began and ended, by the service's clock and by the host's (UNIX seconds). */
  began: number
  hostBegan: number
  now: number
  host: number
  /** Of a whole look, the ids that were listed with a usable status. */
  listed: ReadonlySet<string>
  /** What the next look can go by. */
  list: ListKnowledge | undefined
  /** It could not go on to where the service refuses deep pages. */
  limited?: boolean
}

/** A part of a look: some answers, and with the last part of a good one its end. */
export type Observation = { sightings: Sighting[]; end?: GoodLook }

export type LedgerOptions = {
  /** How far back a call may still change, and how long it is remembered (seconds). */
  lookback: number
  /** Whether calls that were over before the target was set up are passed over. */
  baseline: 'skip' | 'count'
  /** Whether a finished call that was listed without participants is to be asked for, once. */
  details: 'missing' | 'never'
}

/** How far back calls count (UNIX seconds): the lookback before the last complete look, or before the set-up. */
export function horizon({ lastComplete, created }: Facts, lookback: number): number {
  return (lastComplete ?? created) - lookback
}

/**
 * What an observation changes. Pure: the state is only read, and one state and observation make one delta.
 *
 * @returns the delta; undefined where nothing at all changed
 */
export function step(state: LedgerState, observation: Observation, options: LedgerOptions): Delta | undefined {
  const draft = newDraft(state.facts)
  const { delta } = draft
  const find = (id: string) => delta.calls.get(id) ?? state.calls.get(id)
  const askForDetails = options.details === 'missing'
  const [first] = observation.sightings
  if (first !== undefined && state.facts.clockSkew === undefined) delta.facts = compareClocks(delta.facts, first)
  const oldest = horizon(delta.facts, options.lookback)

  for (const { source, now, host, calls, notFound, rejected } of observation.sightings) {
    const answer: Answer = { now, host, source, askForDetails, listedPrecision: Math.min(3600, options.lookback / 10) }
    for (const seen of calls) {
      // The client found that it says just what is remembered.
      if ('phase' in seen) continue
      const before = find(seen.id)
      const after = sight(before, seen, answer)
      if (after !== undefined && after !== before) delta.calls.set(seen.id, after)
    }
    for (const id of notFound) {
      const before = find(id)
      const after = before && observeNotFound(before, now, draft)
      if (after !== undefined && after !== before) delta.calls.set(id, after)
    }
    for (const [reason, items] of Object.entries(rejected)) draft.add(seriesKey(COUNTERS.rejected, reason), items)
  }
  if (observation.end) conclude(observation.end)
  const changed = observation.end !== undefined || delta.calls.size > 0 || delta.counters.size > 0
  return changed ? delta : undefined

  function sight(before: TrackedCall | undefined, seen: SeenCall, answer: Answer): TrackedCall | undefined {
    if (before?.phase === 'baseline') return baselineCall(before, seen, answer)
    if (before !== undefined || finalStatus(seen) === undefined) return observeCall(before, seen, answer, draft)
    const own = ownTime(seen)
    if (own !== undefined && own < oldest) return undefined
    if (options.baseline === 'skip' && isBaseline(own)) return baselineCall(undefined, seen, answer)
    return observeCall(undefined, seen, answer, draft)
  }

  function isBaseline(own: number | undefined): boolean {
    const { created, lastComplete } = delta.facts
    return own === undefined ? lastComplete === undefined : Math.floor(own) < Math.floor(created)
  }

  function conclude({ whole, began, hostBegan, now, host, listed, list }: GoodLook): void {
    const good = { lastGood: now, previousGood: state.facts.lastGood, lastGoodHost: host, list }
    delta.facts = { ...delta.facts, ...good }
    if (!whole) return
    const lastComplete = steadyTime(delta.facts, began, hostBegan)
    delta.facts = { ...delta.facts, lastComplete, ignored: countIgnored(listed) }
    const newHorizon = horizon(delta.facts, options.lookback)
    for (const id of new Set([...state.calls.overdue(newHorizon), ...delta.calls.keys()])) {
      const call = find(id)!
      if (rememberedTill(call) < newHorizon) delta.forgotten.push(call)
    }
  }

  function countIgnored(listed: ReadonlySet<string>): Facts['ignored'] {
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
 */
function compareClocks(facts: Facts, { now, host }: Sighting): Facts {
  const skew = Math.abs(now - host) < 2 ? 0 : now - host
  return { ...facts, clockSkew: skew, created: Math.min(facts.created + skew, now) }
}
