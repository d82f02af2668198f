import type { RecordedResponse } from '../../../src/simulator/responses.ts'
import { addTo } from '../../../src/simulator/series.ts'
import type { Series } from '../../../src/simulator/series.ts'
import { isObject, readCall } from './seen-call.ts'
import type { Medium, SeenCall } from './seen-call.ts'
import { steps } from './steps.ts'

/** The families whose series `replay` gives: those that semantics.md calls observed. */
export const observedFamilies = [
  'callwatch_call_transitions_total',
  'callwatch_minutes_corrections_total',
  'callwatch_calls_lost_total',
  'callwatch_calls_reappeared_total',
  'callwatch_call_anomalies_total',
  'callwatch_calls_rejected_total',
]

export type ReplayOptions = {
  /** When the daemon's store first knew the target, seconds since 1970. */
  created: number
  baseline: 'skip' | 'count'
  /** Seconds; 24 h by default. */
  lookback?: number
  /** Only what was answered to requests with this `onBehalfOf`; absent: only to requests without. */
  onBehalfOf?: string
  statusMap?: Record<string, string>
}

type Known = {
  counted: boolean
  standing: string
  finished: boolean
  labels: { type: string; mode: string; receiver_type: string }
  minutes: Record<string, number>
  anomalies: Set<string>
  ownTime?: number
  lastListed: number
  missedInCycle?: number
}

type Cycle = {
  number: number
  listed: Set<string>
  items: Set<string>
  total: number | undefined
  lastPageEmpty: boolean
  missing: string[]
  found: number
  control?: boolean
}

type State = {
  options: ReplayOptions & { lookback: number; statusMap: Record<string, string> }
  series: Series
  calls: Map<string, Known>
  cycle: Cycle
  horizon: number
  firstLookOver: boolean
  now: number
}

const DEFAULT_STATUS_MAP = { cancelled: 'canceled', missed: 'unanswered', busy: 'rejected' }

/**
 * Every observed series that a right daemon exports after it has committed what these answers say, in their order. An
 * answer that did not arrive whole says nothing. A cycle begins with every request for page 1.
 */
export function replay(responses: readonly RecordedResponse[], options: ReplayOptions): Series {
  const lookback = options.lookback ?? 24 * 3600
  const state: State = {
    options: { ...options, lookback, statusMap: options.statusMap ?? DEFAULT_STATUS_MAP },
    series: new Map(),
    calls: new Map(),
    cycle: newCycle(0),
    horizon: Math.floor(options.created) - lookback,
    firstLookOver: false,
    now: options.created,
  }
  for (const response of responses) {
    if (response.method === 'GET' && response.onBehalfOf === options.onBehalfOf) replayOne(state, response)
  }
  endCycle(state)
  return state.series
}

function replayOne(state: State, response: RecordedResponse): void {
  const url = new URL(response.path, 'http://simulator')
  const [, id] = /\/calls(?:\/([^/]+))?$/.exec(url.pathname) ?? []
  if (id === undefined && (url.searchParams.get('page') ?? '1') === '1') {
    endCycle(state)
    state.cycle = newCycle(state.cycle.number + 1)
  }
  const body = response.delivered ? parsed(response.body) : undefined
  if (!isObject(body)) return
  state.now = Date.parse(response.date) / 1000
  if (id !== undefined) replayGetCall(state, decodeURIComponent(id), body)
  else if (response.status === 200 && Array.isArray(body['data'])) replayPage(state, body['data'], body['meta'])
}

function replayPage(state: State, items: unknown[], meta: unknown): void {
  const pagination = isObject(meta) ? meta['pagination'] : undefined
  const total = isObject(pagination) ? pagination['total'] : undefined
  if (typeof total === 'number') state.cycle.total = total
  state.cycle.lastPageEmpty = items.length === 0
  for (const item of items) {
    const seen = readCall(item, { now: state.now, statusMap: state.options.statusMap })
    if (typeof seen === 'string') {
      state.cycle.items.add(JSON.stringify(item))
      addTo(state.series, 'callwatch_calls_rejected_total', { reason: seen }, 1)
      continue
    }
    state.cycle.items.add(seen.id)
    state.cycle.listed.add(seen.id)
    look(state, seen)
  }
}

function replayGetCall(state: State, id: string, body: Record<string, unknown>): void {
  const { cycle } = state
  const error = body['error']
  const notFound = isObject(error) && error['code'] === 'ERR_CALL_SESSION_NOT_FOUND'
  const seen = isObject(error)
    ? undefined
    : readCall(isObject(body['data']) ? body['data'] : body, { now: state.now, statusMap: state.options.statusMap })
  const found = typeof seen === 'object'
  if (!found && !notFound) return
  if (cycle.listed.has(id)) cycle.control = found
  else if (found) cycle.found++
  else cycle.missing.push(id)
  if (found) look(state, seen)
}

/** Decides about the calls that were not found, and what a whole listing says about times. */
function endCycle(state: State): void {
  const { cycle, options } = state
  const asked = cycle.found + cycle.missing.length
  const doubtful = asked >= 5 && cycle.missing.length > asked / 2
  const believed = !doubtful || cycle.control === true
  for (const id of cycle.missing) if (believed && !cycle.listed.has(id)) miss(state, id)
  if (cycle.total === undefined ? !cycle.lastPageEmpty : cycle.items.size < cycle.total) return
  state.firstLookOver = true
  state.horizon = Math.floor(state.now - options.lookback)
  for (const [id, call] of state.calls) {
    if (call.finished && (call.ownTime ?? call.lastListed) < state.horizon) state.calls.delete(id)
  }
}

function miss(state: State, id: string): void {
  const call = state.calls.get(id)
  if (!call || !call.counted || call.finished || call.standing === 'lost') return
  if (call.missedInCycle === undefined) {
    call.missedInCycle = state.cycle.number
  } else if (call.missedInCycle !== state.cycle.number) {
    addTo(state.series, 'callwatch_calls_lost_total', {}, 1)
    moveTo(state, call, 'lost')
  }
}

function look(state: State, seen: SeenCall): void {
  const known = state.calls.get(seen.id)
  if (!known && tooOld(state, seen)) return
  const call = known ?? newCall(state, seen)
  state.calls.set(seen.id, call)
  call.lastListed = state.now
  if (seen.ownTime !== undefined) call.ownTime = seen.ownTime
  delete call.missedInCycle
  if (!call.counted) return

  for (const kind of seen.anomalies) anomaly(state, call, kind)
  if (Object.entries(seen.labels).some(([name, value]) => value !== { ...call.labels }[name])) {
    anomaly(state, call, 'labels_changed')
  }
  call.labels = { ...call.labels, ...seen.labels }
  if (call.standing === 'lost') addTo(state.series, 'callwatch_calls_reappeared_total', {}, 1)
  if (call.finished && call.standing !== seen.status) anomaly(state, call, 'final_changed')
  moveTo(state, call, seen.status)
  call.finished ||= seen.final
  countMinutes(state, call, seen)
}

function newCall(state: State, seen: SeenCall): Known {
  return {
    counted: !isBaseline(state, seen),
    standing: 'none',
    finished: false,
    labels: { type: 'other', mode: 'other', receiver_type: 'other', ...seen.labels },
    minutes: {},
    anomalies: new Set(),
    lastListed: state.now,
  }
}

function tooOld(state: State, seen: SeenCall): boolean {
  return seen.final && seen.ownTime !== undefined && seen.ownTime < state.horizon
}

function isBaseline({ options, firstLookOver }: State, seen: SeenCall): boolean {
  if (options.baseline === 'count' || !seen.final) return false
  return seen.ownTime === undefined ? !firstLookOver : seen.ownTime < Math.floor(options.created)
}

function moveTo(state: State, call: Known, to: string): void {
  for (const step of steps(call.labels.mode, call.standing, to)) {
    const labels = { from: step.from, to: step.to, observed: String(step.observed) }
    addTo(state.series, 'callwatch_call_transitions_total', labels, 1)
  }
  call.standing = to
}

function countMinutes(state: State, call: Known, { callMinutes, participantMinutes }: SeenCall): void {
  const medium: Medium = call.labels.type === 'video' ? 'video' : 'audio'
  const whole = callMinutes.audio === undefined && callMinutes.video === undefined && call.finished
  for (const media of ['audio', 'video'] as const) {
    count(state, call, 'call', media, whole && media === medium ? callMinutes.duration : callMinutes[media])
    if (!participantMinutes) continue
    const rest = media === medium ? participantMinutes.duration : 0
    count(state, call, 'participant', media, participantMinutes[media] + rest)
  }
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

function newCycle(number: number): Cycle {
  return {
    number,
    listed: new Set(),
    items: new Set(),
    total: undefined,
    lastPageEmpty: false,
    missing: [],
    found: 0,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
