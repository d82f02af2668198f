import { describe, expect, test } from 'vitest'

import { expectedCalls } from '../oracle/expected-calls.ts'
import type { WorldOptions, WorldService } from '../start-world.ts'
import { setAside } from '../oracle/set-aside.ts'
import { expectedSeries } from '../oracle/expected-series.ts'
import { getCall, idsOf, list, serviceOf, START, type ShownPage } from '../request-service.ts'

/** A world without calls, in which 20 a minute begin. */
const arriving = (options: WorldOptions): WorldService =>
  serviceOf({ history: 0, callsPerMinute: 20, speed: 10, ...options })

describe('a call that is too old for the list', () => {
  test('by listedSeconds is not listed, and the ledger records when it left', () => {
    const service = arriving({ switches: { listedSeconds: 300 } })
    const early = list(service, START + 290).data
    expect(early.length).toBeGreaterThan(50)
    const late = list(service, START + 600)
    expect(late.meta.pagination.total).toBe(late.data.length)
    for (const call of late.data) expect(call.initiatedAt).toBeGreaterThanOrEqual(START + 299)
    const left = early.filter((call) => call.initiatedAt < START + 299).map((call) => call.sessionId)
    const unlisted = service.world.ledger.filter(({ event }) => event === 'unlisted')
    expect(new Set(unlisted.map(({ sessionId }) => sessionId))).toEqual(new Set(left.concat(hidden(service, late))))
    for (const { at, initiatedAt } of unlisted) expect(Math.floor(at - 300)).toBe(initiatedAt)
  })

  test('by mostListed makes room for younger ones', () => {
    const service = arriving({ switches: { mostListed: 10 } })
    for (const at of [100, 200, 300]) {
      const { data, meta } = list(service, START + at)
      expect([data.length, meta.pagination.total]).toEqual([10, 10])
    }
    const begun = new Set(service.world.ledger.map(({ sessionId }) => sessionId))
    const newest = [...begun].slice(-10).toReversed()
    expect(idsOf(list(service, START + 300))).toEqual(newest)
  })

  test('is known to Get Call and continues to its end, if unlisted is found', () => {
    const service = arriving({ switches: { mostListed: 1 } })
    list(service, START + 600)
    const over = service.world.ledger.filter(({ event }) => event === 'ended').map(({ sessionId }) => sessionId)
    expect(over.length).toBeGreaterThan(50)
    for (const id of over) expect(getCall(service, START + 600, id).status).toBe(200)
    const counted = expectedSeries(service.world.ledger, { created: START, baseline: 'skip', now: START + 600 })
    expect([...counted.keys()].some((name) => name.includes('status="ended"'))).toBe(true)
    expect(setAside(service.world.ledger).vanished).toEqual([])
  })

  test('is unknown to Get Call if unlisted is not_found, and has vanished if perhaps no poll has seen its end', () => {
    const service = arriving({ switches: { mostListed: 20, unlisted: 'not_found', failedEnds: 'given' } })
    const { data } = list(service, START + 1200)
    const events = service.world.ledger.filter(({ event }) => event === 'unlisted' || event === 'vanished')
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['unlisted', 'vanished']))
    for (const { sessionId } of events) expect(getCall(service, START + 1200, sessionId).status).toBe(404)
    expect(service.world.entries.size).toBe(data.length)
    const calls = expectedCalls(service.world.ledger, START + 1200)
    for (const { sessionId, event, endedAt, at, initiatedAt } of events) {
      const seen = endedAt !== undefined && at - endedAt > (at - initiatedAt!) / 2 - 1
      expect(seen || event === 'vanished').toBe(true)
      expect(calls.get(sessionId)!.isVanished).toBe(event === 'vanished')
    }
  })

  test('changes no more', () => {
    const facts = { corrected: 1, final_changed: 1 }
    const service = arriving({ switches: { mostListed: 5, facts } })
    list(service, START + 1200)
    const left = new Set<string>()
    for (const { sessionId, event } of service.world.ledger) {
      if (event === 'unlisted') left.add(sessionId)
      else if (left.has(sessionId)) expect(event).not.toBe('corrected')
    }
    expect(left.size).toBeGreaterThan(100)
  })

  test('does not fill the memory', () => {
    const service = arriving({ callsPerMinute: 200, switches: { mostListed: 50 } })
    list(service, START + 600)
    expect(service.world.unlisted.length).toBeGreaterThan(1000)
    expect(service.world.entries.size).toBeLessThan(50 + 1000 + 200)
  })
})

/** Calls that began and left the list between two polls. */
function hidden(service: WorldService, late: ShownPage): string[] {
  const still = new Set(idsOf(late))
  return service.world.ledger.map(({ sessionId }) => sessionId).filter((id) => !still.has(id))
}
