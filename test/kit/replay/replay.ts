import type { RecordedResponse } from '../../../src/simulator/answers/responses.ts'
import { addTo, type Series } from '../../../src/simulator/expected/expected-series.ts'
import { isEvicted, miss, observe, type Known } from './known-call.ts'
import { isObject, readCall, type SeenCall } from './seen-call.ts'
import { newSettling, settle, type Settling } from './settling.ts'

/** The families whose series `replay` gives: those that semantics.md calls observed. */
export const observedFamilies = [
  'callwatch_call_transitions_total',
  'callwatch_minutes_corrections_total',
  'callwatch_calls_lost_total',
  'callwatch_calls_reappeared_total',
  'callwatch_call_anomalies_total',
  'callwatch_invalid_items_total',
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
  /** When each cycle of the daemon ended, seconds since 1970, ascending; absent: each request for page 1 begins one. */
  cycles?: readonly number[]
  /** When a confirmed sweep began that ended with a cycle, by the index of the cycle, seconds since 1970; absent: none did. */
  sweeps?: ReadonlyMap<number, number>
  /** Names the call that an item is of; absent: a session has one call. */
  callOf?: (item: {
    session: string
    initiatedAt?: number | undefined
    startedAt?: number | undefined
  }) => string | undefined
}

export type Cycle = {
  number: number
  /** In `options.cycles`. */
  index: number
  /** The service's clock at its first answer. */
  began?: number
  /** Calls, and their sessions. */
  listed: Set<string>
  sessions: Set<string>
  items: Set<string>
  total: number | undefined
  lastPageEmpty: boolean
  missing: string[]
  /** Those of whose session Get Call showed others alone. */
  replaced: string[]
  found: number
  control?: boolean
}

export type State = {
  options: ReplayOptions & { lookback: number; statusMap: Record<string, string> }
  series: Series
  calls: Map<string, Known>
  /** When each call was last shown as open. */
  opened: Map<string, number>
  cycle: Cycle
  /** How many of `options.cycles` lie behind. */
  cyclesEnded: number
  horizon: number
  initialSyncEnded: boolean
  settling: Settling
  now: number
}

const DEFAULT_STATUS_MAP = { cancelled: 'canceled', missed: 'unanswered', busy: 'rejected' }

/** Every observed series that a correct daemon exports after it has committed what these answers say. */
export function replay(responses: readonly RecordedResponse[], options: ReplayOptions): Series {
  return replayed(responses, options).series
}

/** What a correct daemon knows after it has committed what these answers say, in their order. An answer that did not arrive whole says nothing. */
export function replayed(responses: readonly RecordedResponse[], options: ReplayOptions): State {
  const lookback = options.lookback ?? 24 * 3600
  const state: State = {
    options: { ...options, lookback, statusMap: options.statusMap ?? DEFAULT_STATUS_MAP },
    series: new Map(),
    calls: new Map(),
    opened: new Map(),
    cycle: newCycle(0),
    cyclesEnded: 0,
    horizon: Math.floor(options.created) - lookback,
    initialSyncEnded: false,
    settling: newSettling(),
    now: options.created,
  }
  for (const response of responses) {
    if (response.method === 'GET' && response.onBehalfOf === options.onBehalfOf) replayOne(state, response)
  }
  endCycle(state)
  return state
}

function replayOne(state: State, response: RecordedResponse): void {
  const url = new URL(response.path, 'http://simulator')
  const [, id] = /\/calls(?:\/([^/]+))?$/.exec(url.pathname) ?? []
  const isFirstPage = id === undefined && (url.searchParams.get('page') ?? '1') === '1'
  if (isNextCycle(state, response, isFirstPage)) {
    endCycle(state)
    state.cycle = newCycle(state.cycle.number + 1, state.cyclesEnded)
  }
  const answered = response.delivered ? parsed(response.body) : undefined
  const body = Array.isArray(answered) ? { data: answered } : answered
  if (!isObject(body)) return
  const items = id === undefined && response.status === 200 ? body['data'] : undefined
  // Which calls were over before the set-up depends on the clock: what was shown before it is settled was never
  // counted.
  if (Array.isArray(items)) settle(state.settling, response.at, response.date)
  if (!state.settling.isSettled) return
  state.now = response.date === '' ? response.at : Date.parse(response.date) / 1000
  state.cycle.began ??= state.now
  if (id !== undefined) replayGetCall(state, decodeURIComponent(id), body)
  else if (Array.isArray(items)) replayPage(state, items, body['meta'])
}

/** What was answered in the very moment in which a cycle ended belongs to it. */
function isNextCycle(state: State, { at }: RecordedResponse, isFirstPage: boolean): boolean {
  const { cycles } = state.options
  if (cycles === undefined) return isFirstPage
  const before = state.cyclesEnded
  while ((cycles[state.cyclesEnded] ?? Infinity) < at) state.cyclesEnded++
  return state.cyclesEnded > before
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
      addTo(state.series, 'callwatch_invalid_items_total', { reason: seen }, 1)
      continue
    }
    const id = callIdOf(state, seen)
    state.cycle.items.add(id)
    state.cycle.listed.add(id)
    state.cycle.sessions.add(seen.id)
    observe(state, id, seen, 'list')
  }
}

function callIdOf({ options: { callOf } }: State, { id, initiatedAt, startedAt }: SeenCall): string {
  return callOf?.({ session: id, initiatedAt, startedAt }) ?? id
}

function replayGetCall(state: State, session: string, body: Record<string, unknown>): void {
  const { cycle } = state
  const error = body['error']
  const rows = isObject(error) ? [] : callsIn(body)
  const seen = rows
    .map((row) => readCall(row, { now: state.now, statusMap: state.options.statusMap }))
    .filter((one) => typeof one === 'object')
    // Get Call may show the prefix of the app where the list does not.
    .map((one) => ({ ...one, id: one.id === `v1.us.simulator.${session}` ? session : one.id }))
    .map((one) => ({ id: callIdOf(state, one), one }))
  const notFound = rows.length === 0 && (!isObject(error) || error['code'] === 'ERR_CALL_SESSION_NOT_FOUND')
  if (seen.length === 0 && !notFound) return
  const found = new Set(seen.map(({ id }) => id))
  const known = [...state.calls].filter(([, call]) => call.session === session && !call.isFinal)
  const missing = known.map(([id]) => id).filter((id) => !found.has(id) && !cycle.listed.has(id))
  if (missing.length > 0) (found.size > 0 ? cycle.replaced : cycle.missing).push(...missing)
  else if (cycle.sessions.has(session)) cycle.control = found.size > 0
  else if (found.size > 0) cycle.found++
  else cycle.missing.push(session)
  // Of the other calls of the session, a server that lags behind may show the earlier ones as they were.
  const since = Math.min(...known.map(([, { began = -Infinity }]) => began))
  for (const { id, one } of seen)
    if (known.length === 0 || known.some(([asked]) => asked === id) || beganAt(one) >= since)
      observe(state, id, one, 'get')
}

const beganAt = ({ initiatedAt, startedAt = -Infinity }: SeenCall) => initiatedAt ?? startedAt

/** The calls of an answer, alone or in a list; a call may have `data` of its own. */
function callsIn(body: Record<string, unknown>): unknown[] {
  const { data } = body
  if ('sessionId' in body) return [body]
  return Array.isArray(data) ? data : [data ?? body]
}

/** Decides about the calls that were not found, and what a whole listing says about times. */
function endCycle(state: State): void {
  const { cycle, options } = state
  const asked = cycle.found + cycle.missing.length
  const doubtful = asked >= 5 && cycle.missing.length > asked / 2
  const believed = !doubtful || cycle.control === true
  for (const id of cycle.missing) if (believed && !cycle.listed.has(id)) miss(state, id)
  for (const id of cycle.replaced) state.calls.get(id)!.isReplaced = true
  const swept = options.sweeps?.get(cycle.index)
  if (swept !== undefined)
    for (const [id, call] of state.calls) if (call.isReplaced === true && call.lastListed < swept) miss(state, id)
  if (cycle.total === undefined ? !cycle.lastPageEmpty : cycle.items.size < cycle.total) return
  state.initialSyncEnded = true
  state.horizon = Math.floor((cycle.began ?? state.now) - options.lookback)
  for (const [id, call] of state.calls) if (isEvicted(call, state.horizon)) state.calls.delete(id)
}

function newCycle(number: number, index = 0): Cycle {
  return {
    number,
    index,
    listed: new Set(),
    sessions: new Set(),
    items: new Set(),
    total: undefined,
    lastPageEmpty: false,
    missing: [],
    replaced: [],
    found: 0,
  }
}

function parsed(text: string): unknown {
  try {
    // Numbers above 2^53 are taken by their digits.
    return /"sessionId":\d{16}/.test(text) ? JSON.parse(text, withDigits) : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The third argument (ECMA-262, JSON.parse source text access) is not in the compiler's library yet. */
function withDigits(key: string, value: unknown, ...[context]: { source?: string }[]): unknown {
  const source = context?.source
  return key === 'sessionId' && typeof value === 'number' && /^\d+$/.test(source ?? '') ? source : value
}
