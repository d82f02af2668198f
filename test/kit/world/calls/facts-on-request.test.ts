import { describe, expect, test } from 'vitest'

import { addBurst } from '../../../../src/simulator/calls/arrivals.ts'
import { heal } from '../start-world.ts'
import { setAside } from '../oracle/set-aside.ts'
import { expectedSeries } from '../oracle/expected-series.ts'
import { advance } from '../../../../src/simulator/calls/world.ts'
import { ask, getCall, idsOf, list, serviceOf, START } from '../request-service.ts'
import { livesIn, named, worldWith } from './lives.ts'

test('stuck calls are ongoing until the world is healed, and end then', () => {
  const service = serviceOf({ switches: { facts: { stuck: 1 } } })
  const ongoing = () => list(service, START + 40_000).data.filter(({ status }) => status === 'ongoing')
  expect(ongoing().length).toBeGreaterThan(30)
  heal(service)
  advance(service.world, START + 40_001, service.switches)
  expect(list(service, START + 40_001).data.filter(({ status }) => status === 'ongoing')).toEqual([])
})

describe('a call that is reopened', () => {
  const reopened = livesIn(worldWith({ reopened: 1 }, 12_000)).filter(
    (events) => named(events, 'ended_again').length > 0,
  )
  const [life] = reopened
  const first = life!.find(({ event }) => event === 'ended')!
  const again = life!.find(({ event }) => event === 'reopened')!
  const last = life!.at(-1)!
  const of = (created: number, now = START + 12_000) => expectedSeries(life!, { created, now, baseline: 'skip' })
  const sumOf = (series: ReadonlyMap<string, number>, family: string) =>
    [...series].reduce((sum, [name, value]) => sum + (name.startsWith(family) ? value : 0), 0)

  test('is open for 40 minutes or more, and ends with more minutes', () => {
    expect(reopened.length).toBeGreaterThan(50)
    expect(again.at - first.at).toBeGreaterThanOrEqual(300)
    expect(last).toMatchObject({ event: 'ended_again', status: 'ended', endedAt: Math.floor(last.at) })
    expect(last.at - again.at).toBeGreaterThanOrEqual(2400)
    expect(last.callMinutes.audio - first.callMinutes.audio).toBeCloseTo((last.at - again.at) / 60, 3)
  })

  test('counts whole and finishes at its second end, if it ended before the target was created and is open after that', () => {
    const created = first.at + 60
    const before = of(created, again.at - 1)
    expect(before.size).toBe(0)
    const open = of(created, again.at + 1)
    expect([sumOf(open, 'callwatch_calls_started_total'), sumOf(open, 'callwatch_calls_in_progress')]).toEqual([1, 1])
    const over = of(created)
    expect([sumOf(over, 'callwatch_calls_total'), sumOf(over, 'callwatch_calls_in_progress')]).toEqual([1, 0])
    expect(sumOf(over, 'callwatch_call_duration_seconds_sum')).toBe(last.endedAt! - last.startedAt!)
    expect(setAside(life!, created).finalChanged).toEqual([])
  })

  test('finishes at its first end and is set aside, if it first ended after the target was created', () => {
    const created = first.at - 60
    expect(sumOf(of(created), 'callwatch_call_duration_seconds_sum')).toBe(first.endedAt! - first.startedAt!)
    expect(setAside(life!, created).finalChanged).toEqual([first.sessionId])
  })

  test('does not count if both ends were before the target was created', () => {
    expect(of(last.at + 60).size).toBe(0)
  })
})

const pairsOf = <Row extends { sessionId: string }>(rows: Row[]): Row[][] =>
  [...Map.groupBy(rows, ({ sessionId }) => sessionId).values()].filter(({ length }) => length === 2)

test('a doubled call is in the list twice, and counts as one call', () => {
  const service = serviceOf({ switches: { facts: { doubled: 1 } } })
  const { data, meta } = list(service, START)
  expect([data.length, meta.pagination.total]).toEqual([120, 120])
  for (const [one, other] of pairsOf(data)) expect(one).toEqual(other)
  const plain = serviceOf()
  expect(service.world.ledger).toEqual(plain.world.ledger)
})

test('big ids are numbers that differ in their last digits only', () => {
  const service = serviceOf({ callsPerMinute: 60, switches: { facts: { big_id: 1 } } })
  const { body } = ask(service, START + 60)
  const digits = [...body.matchAll(/"sessionId":(\d{28}),/g)].map(([, id]) => id!)
  expect(new Set(digits).size).toBeGreaterThan(80)
  expect(new Set(digits.map(Number)).size).toBeLessThan(new Set(digits).size / 2)
  expect(new Set(digits)).toEqual(new Set(service.world.ledger.map(({ sessionId }) => sessionId)))
  expect(getCall(service, START + 60, digits[0]!).body).toContain(`"sessionId":${digits[0]},`)
})

test('calls with big ids that begin together are calls of their own', () => {
  const service = serviceOf({ callsPerMinute: 0, switches: { facts: { big_id: 1 } } })
  addBurst(service.world, START + 1, { calls: 100, seconds: 1, outcomes: { ended: 1 } })
  addBurst(service.world, START + 1, { calls: 100, seconds: 1, outcomes: { ended: 1 } })
  ask(service, START + 3)
  const began = service.world.ledger.filter(({ at, event }) => at > START && event === 'initiated')
  expect(began).toHaveLength(200)
  expect(new Set(began.map(({ sessionId }) => sessionId)).size).toBe(200)
})

test('an endedAt more than a day ahead is ignored, and becomes plausible within two hours', () => {
  const service = serviceOf({ switches: { facts: { ended_ahead: 1 } } })
  const over = list(service, START).data.filter(({ endedAt }) => endedAt !== undefined)
  expect(over.length).toBeGreaterThan(40)
  const { ledger } = service.world
  const ends = new Map(ledger.filter(({ status }) => status !== 'ongoing').map(({ sessionId, at }) => [sessionId, at]))
  for (const { sessionId, endedAt } of over) {
    const ahead = endedAt! - ends.get(sessionId)! - 86_400
    expect(ahead).toBeGreaterThanOrEqual(29 * 60)
    expect(ahead).toBeLessThanOrEqual(120 * 60)
  }
  expect(setAside(ledger).withoutEndedAt).toHaveLength(over.length)
})

test('healing leaves every row in the list', () => {
  const service = serviceOf({ history: 50, switches: { facts: { doubled: 0.5 } } })
  const before = idsOf(list(service, START))
  heal(service)
  expect(idsOf(list(service, START))).toEqual(before)
})
