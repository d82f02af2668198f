import { addTo } from '../../../src/simulator/expected/expected-series.ts'
import type { State } from './replay.ts'
import type { Medium, SeenCall, SeenMinutes } from './seen-call.ts'
import { steps } from './steps.ts'

/** A tracked call. */
export type Known = {
  session: string
  began?: number | undefined
  counted: boolean
  standing: string
  finished: boolean
  /** The last believed answer showed it as final. */
  isFinal: boolean
  labels: { type: string; mode: string; receiver_type: string }
  minutes: Record<string, number>
  anomalies: Set<string>
  ownTime?: number
  lastListed: number
  /** When it was first seen as final, or was lost. */
  finalSince?: number
  missedInCycle?: number
  initiatedAt?: number | undefined
  startedAt?: number | undefined
  /** When it finished, and whether an answer has shown that. */
  finishedAt?: number
  isEndShown?: boolean
  /** Of its session, Get Call showed others alone, the last time that it showed any. */
  isReplaced?: boolean
  /** The cycle in which the list showed it further back than it was known to be, and nothing has contradicted that since. */
  setBackInCycle?: number
}

/** Counts an answer of Get Call that the call is unknown. */
export function miss(state: State, id: string): void {
  const call = state.calls.get(id)
  if (!call || !call.counted || call.finished || call.standing === 'lost') return
  if (call.missedInCycle === undefined) {
    call.missedInCycle = state.cycle.number
  } else if (call.missedInCycle !== state.cycle.number) {
    addTo(state.series, 'callwatch_calls_lost_total', {}, 1)
    call.finalSince = state.now
    moveTo(state, call, 'lost')
  }
}

/**
 * Counts what one answer newly says of a call. A list may be stale: that a call is open again, or initiated again, is
 * believed once two cycles in a row list it so or Get Call says so; until then that item says nothing.
 */
export function observe(state: State, id: string, seen: SeenCall, source: 'list' | 'get'): void {
  const known = state.calls.get(id)
  if (!seen.final) state.opened.set(id, state.now)
  if (!known && tooOld(state, seen)) return
  if (known && source === 'list' && isSetBack(known, seen)) {
    const before = known.setBackInCycle
    if (before === undefined || before < state.cycle.number - 1) known.setBackInCycle = state.cycle.number
    if (known.setBackInCycle !== state.cycle.number - 1) return
  }
  if (known) delete known.setBackInCycle
  const call = known ?? newCall(state, seen)
  state.calls.set(id, call)
  call.lastListed = state.now
  if (seen.ownTime !== undefined) call.ownTime = seen.ownTime
  delete call.missedInCycle
  if (source === 'get') delete call.isReplaced
  call.isFinal = seen.final
  call.initiatedAt = seen.initiatedAt ?? call.initiatedAt
  call.startedAt = seen.startedAt ?? call.startedAt
  if (!call.counted) return

  for (const kind of seen.anomalies) anomaly(state, call, kind)
  if (Object.entries(seen.labels).some(([name, value]) => value !== { ...call.labels }[name])) {
    anomaly(state, call, 'labels_changed')
  }
  call.labels = { ...call.labels, ...seen.labels }
  if (call.standing === 'lost') {
    addTo(state.series, 'callwatch_calls_reappeared_total', {}, 1)
    delete call.finalSince
  }
  if (call.finished && call.standing !== seen.status) anomaly(state, call, 'final_changed')
  moveTo(state, call, seen.status)
  call.finished ||= seen.final
  if (call.finished) call.finalSince ??= state.now
  if (call.finished) dateFinish(state, id, call, seen)
  countMinutes(state, call, seen)
}

/** Dates the finish by the row (semantics.md, A call): once, and once more where the first row did not show when it ended. */
function dateFinish({ opened, now }: State, id: string, call: Known, { endedAt, leftAt }: SeenCall): void {
  const isShown = endedAt !== undefined || leftAt !== undefined
  if (call.finishedAt !== undefined && (call.isEndShown === true || !isShown)) return
  const began = call.initiatedAt ?? call.startedAt ?? endedAt ?? call.finalSince!
  const earliest = call.finishedAt ?? Math.max(began, opened.get(id) ?? -Infinity)
  const end = endedAt ?? Math.max(leftAt ?? began, earliest)
  call.finishedAt = Math.min(Math.max(end, began), call.finalSince ?? now)
  call.isEndShown = isShown
}

/** From final to open, from ongoing to initiated. */
function isSetBack({ standing, isFinal }: Known, { status, final }: SeenCall): boolean {
  return isFinal ? !final : standing === 'ongoing' && status === 'initiated'
}

function newCall(state: State, seen: SeenCall): Known {
  return {
    session: seen.id,
    began: seen.initiatedAt ?? seen.startedAt,
    counted: !isBaseline(state, seen),
    standing: 'none',
    finished: false,
    isFinal: seen.final,
    labels: { type: 'other', mode: 'other', receiver_type: 'other', ...seen.labels },
    minutes: {},
    anomalies: new Set(),
    lastListed: state.now,
  }
}

function tooOld(state: State, seen: SeenCall): boolean {
  return seen.final && seen.ownTime !== undefined && seen.ownTime < state.horizon
}

function isBaseline({ options, initialSyncEnded }: State, seen: SeenCall): boolean {
  if (options.baseline === 'count' || !seen.final) return false
  return seen.ownTime === undefined ? !initialSyncEnded : seen.ownTime < Math.floor(options.created)
}

function moveTo(state: State, call: Known, to: string): void {
  for (const step of steps(call.labels.mode, call.standing, to)) {
    const labels = { from: step.from, to: step.to, observed: String(step.observed) }
    addTo(state.series, 'callwatch_call_transitions_total', labels, 1)
  }
  call.standing = to
}

function countMinutes(state: State, call: Known, { callMinutes, participantMinutes }: SeenCall): void {
  const ownMedium: Medium = call.labels.type === 'video' ? 'video' : 'audio'
  for (const media of ['audio', 'video'] as const) {
    const total = call.finished && media === ownMedium ? callMinutes.total : undefined
    count(state, call, 'call', media, callMinutes[media] ?? total)
    count(state, call, 'participant', media, withTotal(participantMinutes, media, ownMedium))
  }
}

/** What entries with only a total say belongs to the medium of the call's type, besides what the others say. */
function withTotal(minutes: SeenMinutes, media: Medium, ownMedium: Medium): number | undefined {
  const value = minutes[media]
  return value === undefined || media !== ownMedium ? value : value + (minutes.total ?? 0)
}

function count(state: State, call: Known, level: string, media: Medium, value: number | undefined): void {
  if (value === undefined) return
  const key = `${level} ${media}`
  const counted = call.minutes[key] ?? 0
  if (value < counted && !call.finished) return
  if (value < counted) addTo(state.series, 'callwatch_minutes_corrections_total', { level, media }, counted - value)
  call.minutes[key] = value
}

function anomaly(state: State, call: Known, kind: string): void {
  if (call.anomalies.has(kind)) return
  call.anomalies.add(kind)
  addTo(state.series, 'callwatch_call_anomalies_total', { kind }, 1)
}

/** Final or lost, and the horizon has passed both its own time and the moment at which that was seen. */
export function isEvicted({ finalSince, ownTime, lastListed }: Known, horizon: number): boolean {
  if (finalSince === undefined) return false
  return ownTime === undefined ? lastListed < horizon : ownTime < horizon && finalSince < horizon
}
