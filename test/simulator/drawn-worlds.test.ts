import { describe, expect, test } from 'vitest'

import { createService } from '../../src/simulator/create-service.ts'
import { drawSwitches } from '../../src/simulator/draw-switches.ts'
import { heal } from '../../src/simulator/heal.ts'
import type { CallsService } from '../../src/simulator/service.ts'
import { addTo } from '../../src/simulator/series.ts'
import type { Series } from '../../src/simulator/series.ts'
import { setAside } from '../../src/simulator/set-aside.ts'
import { defaultSwitches } from '../../src/simulator/switches.ts'
import type { Switches } from '../../src/simulator/switches.ts'
import { truth } from '../../src/simulator/truth.ts'
import { advance } from '../../src/simulator/world.ts'
import { difference } from '../system/truth/exposition.ts'
import { lookAtAll } from './onlooker.ts'
import type { Looked } from './onlooker.ts'

const START = 1_800_000_000
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

type Watched = { service: CallsService; calls: Map<string, Looked> }

/** A world with these switches, and an onlooker who sees it all. */
function watched(seed: number, switches: Switches): Watched {
  const options = { seed, speed: 2, callsPerMinute: 6, history: 0, open: 0, progressSeconds: 60 }
  const service = createService({ ...options, recordResponses: false, switches }, START)
  const calls = new Map<string, Looked>()
  for (let at = START; at < START + SECONDS; at += 30) lookAtAll(service, calls, at)
  return { service, calls }
}

/** Looks on until the last call is over, and long after. */
function watchToTheEnd({ service, calls }: Watched, looks: number): void {
  service.switches = { ...service.switches, arrivals: false }
  for (let look = 1; look <= looks; look++) lookAtAll(service, calls, START + SECONDS + (4 * 3600 * look) / looks)
}

function expectTruth({ service, calls }: Watched): void {
  const { ledger } = service.world
  const except = new Set(Object.values(setAside(ledger)).flat())
  const expected = truth(ledger, { created: START, baseline: 'count', now: END, except })
  expect(expected.size).toBeGreaterThan(80)
  expect(difference(expected, counted(calls, except), FAMILIES)).toEqual([])
  expect(except.size).toBeGreaterThan(5)
  expect(except.size).toBeLessThan(calls.size / 2)
}

/** The series of what the onlooker knows, but for the calls that are set aside. */
function counted(calls: Map<string, Looked>, except: ReadonlySet<string>): Series {
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

describe('who looks at everything counts what the truth says, but for the calls set aside:', () => {
  test.each([1, 2, 3, 4, 5, 6])('whatever was drawn, once it is healed, seed %i', (seed) => {
    const world = watched(seed, drawSwitches(seed, 1))
    heal(world.service)
    watchToTheEnd(world, 2)
    expectTruth(world)
  })

  test.each([1, 2, 3])('with any fact and oddity, also without being healed, seed %i', (seed) => {
    const { facts, odd } = drawSwitches(seed, 1)
    const world = watched(seed, { ...defaultSwitches, facts, odd })
    watchToTheEnd(world, 12)
    expectTruth(world)
  })
})

test('what happened is the same for the same seed, whoever looks and when', () => {
  const { service } = watched(5, drawSwitches(5, 1))
  const { world } = createService({ ...service.world.options, switches: service.switches }, START)
  advance(world, START + SECONDS - 30, service.switches)
  expect(world.ledger).toEqual(service.world.ledger)
})
