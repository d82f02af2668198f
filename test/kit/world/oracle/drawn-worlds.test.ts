import { describe, expect, test } from 'vitest'
import { drawSwitches } from '../draw-switches.ts'
import type { Reply } from '../../../../src/simulator/answers/http.ts'
import { addTo, type Series } from '../../../../src/simulator/expected/expected-series.ts'
import { createWorldService, heal, type WorldService } from '../start-world.ts'
import { callsOf } from './call-of.ts'
import { setAside } from './set-aside.ts'
import { defaultSwitches, type Switches } from '../switches.ts'
import { expectedSeries } from './expected-series.ts'
import { advance } from '../../../../src/simulator/calls/world.ts'
import { difference } from '../../replay/exposition.ts'
import { isObject, readCall, type SeenCall } from '../../replay/seen-call.ts'
import { ask, endArrivals, getCall, serviceOf, START } from '../request-service.ts'

const SECONDS = 1800
const END = START + SECONDS + 4 * 3600

const FAMILIES = [
  'callwatch_calls_started_total',
  'callwatch_calls_total',
  'callwatch_calls_in_progress',
  'callwatch_calls_recorded_total',
  'callwatch_call_minutes_total',
  'callwatch_participant_minutes_total',
  'callwatch_call_duration_seconds_sum',
  'callwatch_call_duration_seconds_count',
  'callwatch_call_participants_sum',
  'callwatch_call_participants_count',
]

/** What a reader of everything knows of a call in the end. */
type Seen = {
  session: string
  firstLabels: Labels
  labels: Labels
  status: string
  /** Absent while it is open. */
  finish?: { labels: Labels; status: string }
  minutes: Record<string, number>
  startedAt?: number
  endedAt?: number
  participants?: number
  recorded: boolean
}

type Labels = { type: string; mode: string; receiver_type: string }

const STATUS_MAP = { cancelled: 'canceled', missed: 'unanswered', busy: 'rejected' }

type World = { service: WorldService; calls: Map<string, Seen> }

/** A world with these switches, and a reader that sees it all. */
function readWorld(seed: number, switches: Switches): World {
  const options = { seed, speed: 2, callsPerMinute: 6, history: 0, open: 0, progressSeconds: 60, groups: 3 }
  const service = serviceOf({ ...options, switches })
  const calls = new Map<string, Seen>()
  for (let at = START; at < START + SECONDS; at += 60) pollAll(service, calls, at)
  return { service, calls }
}

/** Polls until the last call has ended, and long after. */
function readToTheEnd({ service, calls }: World, polls: number): void {
  endArrivals(service)
  for (let poll = 1; poll <= polls; poll++) pollAll(service, calls, START + SECONDS + (4 * 3600 * poll) / polls)
}

function expectEqual({ service, calls }: World): void {
  const { ledger } = service.world
  const except = new Set(Object.values(setAside(ledger)).flat())
  const expected = expectedSeries(ledger, { created: START, baseline: 'count', now: END, except })
  expect(expected.size).toBeGreaterThan(80)
  expect(difference(expected, counted(calls, except), FAMILIES)).toEqual([])
  expect(except.size).toBeGreaterThan(5)
  expect(except.size).toBeLessThan(calls.size / 2)
}

/** The series of what the reader knows, but for the calls that are set aside. */
function counted(calls: Map<string, Seen>, except: ReadonlySet<string>): Series {
  const series: Series = new Map()
  for (const [id, call] of calls) {
    if (except.has(id)) continue
    addTo(series, 'callwatch_calls_started_total', call.firstLabels, 1)
    for (const media of ['audio', 'video']) {
      addTo(series, 'callwatch_call_minutes_total', { ...call.labels, media }, call.minutes[`call ${media}`] ?? 0)
      const minutes = call.minutes[`participant ${media}`] ?? 0
      addTo(series, 'callwatch_participant_minutes_total', { media }, minutes)
    }
    if (!call.finish) {
      addTo(series, 'callwatch_calls_in_progress', { ...call.labels, status: call.status }, 1)
      continue
    }
    const { labels, status } = call.finish
    addTo(series, 'callwatch_calls_total', { ...labels, status }, 1)
    if (call.recorded) addTo(series, 'callwatch_calls_recorded_total', {}, 1)
    addTo(series, 'callwatch_call_participants_sum', labels, call.participants ?? NaN)
    addTo(series, 'callwatch_call_participants_count', labels, 1)
    if (status !== 'ended' || call.startedAt === undefined || call.endedAt === undefined) continue
    addTo(series, 'callwatch_call_duration_seconds_sum', labels, call.endedAt - call.startedAt)
    addTo(series, 'callwatch_call_duration_seconds_count', labels, 1)
  }
  return series
}

describe('a reader that polls everything counts what the simulator recorded, except for the calls set aside:', () => {
  test.each([1, 2, 3, 4, 5, 6])('after healing, whatever was drawn, seed %i', (seed) => {
    const world = readWorld(seed, drawSwitches(seed, 1))
    heal(world.service)
    readToTheEnd(world, 2)
    expectEqual(world)
  })

  test.each([1, 2, 3])('without healing, with any fact and oddity, seed %i', (seed) => {
    const { facts, odd } = drawSwitches(seed, 1)
    const world = readWorld(seed, { ...defaultSwitches, facts, odd })
    readToTheEnd(world, 6)
    expectEqual(world)
  })
})

test.each(
  (['A', 'B', 'C'] as const).flatMap((listedAs, i) =>
    (['given', 'late', 'none', 'room'] as const).map((mids, j) => [listedAs, mids, 10 * i + j] as const),
  ),
)(
  'a reader that knows which call a row is of counts each call of a session that is listed as %s, with mids %s',
  (listedAs, mids, seed) => {
    const { facts } = drawSwitches(seed, 1)
    const gap = { sessionGap: seed % 2 === 0 ? 1 : 60 }
    const world = readWorld(seed, {
      ...defaultSwitches,
      getCall: 'list',
      sessions: 'reused',
      listedAs,
      mids,
      ...gap,
      facts,
    })
    readToTheEnd(world, 6)
    expectEqual(world)
  },
)

test('the simulator records the same ledger for the same seed, however often it is read', () => {
  const { service } = readWorld(5, drawSwitches(5, 1))
  const { world } = createWorldService({ ...service.world.options, switches: service.switches }, START)
  advance(world, START + SECONDS - 60, service.switches)
  expect(world.ledger).toEqual(service.world.ledger)
})

/** Lists every page and asks for each open call that was not listed, as simply as possible. */
function pollAll(service: WorldService, calls: Map<string, Seen>, at: number): void {
  advance(service.world, at, service.switches)
  const callOf = callsOf(service.world.ledger)
  const listed = new Set<string>()
  for (let page = 1; page <= 200; page++) {
    const body = bodyOf(ask(service, at, '/v3/calls', `page=${page}&perPage=100`))
    const items = body?.['data']
    if (!Array.isArray(items)) break
    for (const item of items) {
      const id = take(calls, item, at, callOf)
      if (id !== undefined) listed.add(id)
    }
    if (items.length === 0) break
  }
  for (const [id, { session, finish }] of calls) {
    if (finish || listed.has(id)) continue
    const body = bodyOf(getCall(service, at, session))
    if (!body || isObject(body['error'])) continue
    for (const item of [body['data'] ?? body].flat()) take(calls, item, at, callOf)
  }
}

/** The body of an answer that arrived whole and is an object. */
function bodyOf({ delivery, body }: Reply): Record<string, unknown> | undefined {
  if (delivery !== 'whole') return undefined
  try {
    const parsed: unknown = JSON.parse(body)
    return isObject(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

function take(
  calls: Map<string, Seen>,
  item: unknown,
  now: number,
  callOf: ReturnType<typeof callsOf>,
): string | undefined {
  const seen = readCall(item, { now, statusMap: STATUS_MAP })
  if (typeof seen === 'string' || !isObject(item)) return undefined
  const id = callOf({ ...seen, session: seen.id })
  if (id === undefined) return undefined
  const known = calls.get(id)
  const labels = { type: 'other', mode: 'other', receiver_type: 'other', ...known?.labels, ...seen.labels }
  const call = known ?? { session: seen.id, firstLabels: labels, labels, status: '', minutes: {}, recorded: false }
  calls.set(id, call)
  call.labels = labels
  call.status = seen.status
  if (seen.final) call.finish ??= { labels, status: seen.status }
  call.recorded ||= item['hasRecording'] === true || item['hasRecording'] === 'true' || item['hasRecording'] === 1
  for (const name of ['startedAt', 'endedAt'] as const) {
    const time = timeOf(item[name], now)
    if (time !== undefined) call[name] = time
  }
  const participants = Number(item['totalParticipants'] ?? NaN)
  if (
    ['number', 'string'].includes(typeof item['totalParticipants']) &&
    item['totalParticipants'] !== '' &&
    participants >= 0
  )
    call.participants = participants
  takeMinutes(call, seen)
  return id
}

function takeMinutes(call: Seen, { callMinutes, participantMinutes }: SeenCall): void {
  const own = call.labels.type === 'video' ? 'video' : 'audio'
  const levels = [
    ['call', callMinutes, call.finish ? callMinutes.total : undefined],
    ['participant', participantMinutes, undefined],
  ] as const
  for (const [level, minutes, total] of levels) {
    for (const media of ['audio', 'video'] as const) {
      const added = level === 'participant' && media === own ? (minutes.total ?? 0) : 0
      const value = minutes[media] === undefined ? (media === own ? total : undefined) : minutes[media] + added
      const counted = call.minutes[`${level} ${media}`] ?? 0
      if (value !== undefined && (call.finish || value > counted)) call.minutes[`${level} ${media}`] = value
    }
  }
}

function timeOf(value: unknown, now: number): number | undefined {
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : NaN
  const seconds = number > 1e11 ? number / 1000 : number
  return seconds > 0 && seconds <= now + 86_400 ? Math.floor(seconds) : undefined
}
