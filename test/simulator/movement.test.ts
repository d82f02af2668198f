import { describe, expect, test } from 'vitest'

import { createService } from '../../src/simulator/create-service.ts'
import type { ServiceOptions } from '../../src/simulator/create-service.ts'
import { answer } from '../../src/simulator/service.ts'
import type { CallsService } from '../../src/simulator/service.ts'
import { callTruth } from '../../src/simulator/call-truth.ts'
import { setAside } from '../../src/simulator/set-aside.ts'
import { truth } from '../../src/simulator/truth.ts'

const START = 1_800_000_000

function serviceOf(options: ServiceOptions): CallsService {
  return createService(
    { history: 0, open: 0, callsPerMinute: 20, speed: 10, recordResponses: false, ...options },
    START,
  )
}

function ask(service: CallsService, at: number, path = '/v3/calls', query = 'perPage=1000') {
  const request = { method: 'GET', path, query, headers: { apikey: service.keys.fullAccess } }
  return answer(service, request, at).reply
}

type Page = { data: { sessionId: string; initiatedAt: number }[]; meta: { pagination: { total: number } } }
const list = (service: CallsService, at: number): Page => JSON.parse(ask(service, at).body)
const statusOf = (service: CallsService, id: string, at: number): number =>
  ask(service, at, `/v3/calls/${encodeURIComponent(id)}`, '').status

describe('a call that is too old for the list', () => {
  test('by listedSeconds is not in it, and its leaving is in the ledger', () => {
    const service = serviceOf({ switches: { listedSeconds: 300 } })
    const early = list(service, START + 290).data
    expect(early.length).toBeGreaterThan(50)
    const late = list(service, START + 600)
    expect(late.meta.pagination.total).toBe(late.data.length)
    for (const call of late.data) expect(call.initiatedAt).toBeGreaterThanOrEqual(START + 299)
    const gone = early.filter((call) => call.initiatedAt < START + 299).map((call) => call.sessionId)
    const unlisted = service.world.ledger.filter(({ event }) => event === 'unlisted')
    expect(new Set(unlisted.map(({ sessionId }) => sessionId))).toEqual(new Set(gone.concat(hidden(service, late))))
    for (const { at, initiatedAt } of unlisted) expect(Math.floor(at - 300)).toBe(initiatedAt)
  })

  test('by mostListed makes room for younger ones', () => {
    const service = serviceOf({ switches: { mostListed: 10 } })
    for (const at of [100, 200, 300]) {
      const { data, meta } = list(service, START + at)
      expect([data.length, meta.pagination.total]).toEqual([10, 10])
    }
    const begun = new Set(service.world.ledger.map(({ sessionId }) => sessionId))
    const newest = [...begun].slice(-10).toReversed()
    expect(list(service, START + 300).data.map(({ sessionId }) => sessionId)).toEqual(newest)
  })

  test('is known to Get Call and goes on to its end, where unlisted is found', () => {
    const service = serviceOf({ switches: { mostListed: 1 } })
    list(service, START + 600)
    const over = service.world.ledger.filter(({ event }) => event === 'ended').map(({ sessionId }) => sessionId)
    expect(over.length).toBeGreaterThan(50)
    for (const id of over) expect(statusOf(service, id, START + 600)).toBe(200)
    const counted = truth(service.world.ledger, { created: START, baseline: 'skip', now: START + 600 })
    expect([...counted.keys()].some((name) => name.includes('status="ended"'))).toBe(true)
    expect(setAside(service.world.ledger).vanished).toEqual([])
  })

  test('is forgotten where unlisted is not_found, and has vanished where nobody need have seen its end', () => {
    const service = serviceOf({ switches: { mostListed: 20, unlisted: 'not_found' } })
    const { data } = list(service, START + 1200)
    const events = service.world.ledger.filter(({ event }) => event === 'unlisted' || event === 'vanished')
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['unlisted', 'vanished']))
    for (const { sessionId } of events) expect(statusOf(service, sessionId, START + 1200)).toBe(404)
    expect(service.world.entries.size).toBe(data.length)
    const truths = callTruth(service.world.ledger, START + 1200)
    for (const { sessionId, event, endedAt, at, initiatedAt } of events) {
      const seen = endedAt !== undefined && at - endedAt > (at - initiatedAt!) / 2 - 1
      expect(seen || event === 'vanished').toBe(true)
      expect(truths.get(sessionId)!.gone).toBe(event === 'vanished')
    }
  })

  test('takes no turn any more', () => {
    const facts = { corrected: 1, final_changed: 1 }
    const service = serviceOf({ switches: { mostListed: 5, facts } })
    list(service, START + 1200)
    const left = new Set<string>()
    for (const { sessionId, event } of service.world.ledger) {
      if (event === 'unlisted') left.add(sessionId)
      else if (left.has(sessionId)) expect(event).not.toBe('corrected')
    }
    expect(left.size).toBeGreaterThan(100)
  })

  test('does not fill the memory', () => {
    const service = serviceOf({ callsPerMinute: 200, switches: { mostListed: 50 } })
    list(service, START + 600)
    expect(service.world.unlisted.length).toBeGreaterThan(1000)
    expect(service.world.entries.size).toBeLessThan(50 + 1000 + 200)
  })
})

describe('the order', () => {
  test('changing is each of the three for a while', () => {
    const service = serviceOf({ switches: { order: 'changing' } })
    for (let i = 0; i < 1000; i++) ask(service, START + 60)
    const { reached } = service.world
    for (const order of ['newest', 'oldest', 'shuffled']) expect(reached.get(`order.${order}`)).toBeGreaterThan(50)
  })

  test('shuffled gives every call about as often on every page, and none twice on one', () => {
    const service = serviceOf({ switches: { order: 'shuffled' } })
    const { length } = list(service, START + 300).data
    const counts = new Map<string, number>()
    for (let i = 0; i < 600; i++) {
      const page: Page = JSON.parse(ask(service, START + 300, '/v3/calls', 'page=3&perPage=10').body)
      const ids = page.data.map(({ sessionId }) => sessionId)
      expect(new Set(ids).size).toBe(10)
      for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    expect(counts.size).toBe(length)
    const mean = 6000 / length
    // Binomial: five standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(5 * Math.sqrt(mean))
  })
})

test('no more calls are written out than the page asks for', () => {
  const service = serviceOf({ history: 500 })
  ask(service, START, '/v3/calls', 'page=2&perPage=25')
  expect([...service.world.entries.values()].filter(({ text }) => text !== undefined)).toHaveLength(25)
})

/** Calls that began and left the list between two looks. */
function hidden(service: CallsService, late: Page): string[] {
  const still = new Set(late.data.map(({ sessionId }) => sessionId))
  return service.world.ledger.map(({ sessionId }) => sessionId).filter((id) => !still.has(id))
}
