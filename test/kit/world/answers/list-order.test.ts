import { expect, test } from 'vitest'

import { setSwitches } from '../start-world.ts'
import { expectedSeries } from '../oracle/expected-series.ts'
import { advance } from '../../../../src/simulator/calls/world.ts'
import { ask, getCall, idsOf, list, serviceOf, START, type ShownPage } from '../request-service.ts'

type Shown = ShownPage['data'][number]

test('lists are newest first, oldest first, or shuffled again for every request', () => {
  const service = serviceOf()
  const listed = () => idsOf(list(service, START))
  const { data } = list(service, START)
  expect(data).toEqual(data.toSorted((a, b) => b.initiatedAt - a.initiatedAt))
  const newest = listed()
  setSwitches(service, { order: 'oldest' })
  expect(listed()).toEqual(newest.toReversed())
  setSwitches(service, { order: 'shuffled' })
  const [one, two] = [listed(), listed()]
  expect(one).not.toEqual(two)
  for (const shuffled of [one, two]) expect(shuffled.toSorted()).toEqual(newest.toSorted())
})

test.each<['type' | 'startedAt' | 'endedAt', string, (call: Shown) => number]>([
  ['type', 'video calls come first', ({ type }) => Number(type === 'video')],
  ['startedAt', 'calls that were not answered come last', ({ startedAt }) => startedAt ?? 0],
  ['endedAt', 'calls that never end come first', ({ endedAt }) => endedAt ?? Infinity],
])('by %s, %s, and the newest where that is the same', (order, _which, key) => {
  const service = serviceOf({ switches: { facts: { stuck: 0.3 } } })
  const newestFirst = list(service, START).data
  setSwitches(service, { order })
  const descending = (a: number, b: number): number => (a === b ? 0 : a < b ? 1 : -1)
  const { data } = list(service, START)
  expect(data).toEqual(newestFirst.toSorted((a, b) => descending(key(a), key(b))))
  const [first, last] = [data[0]!, data.at(-1)!].map(key)
  expect(data.filter((call) => key(call) === (order === 'startedAt' ? last : first)).length).toBeGreaterThan(5)
  expect(first).toBeGreaterThan(last!)
})

test('the order changing is each of the three for a while', () => {
  const service = serviceOf({ switches: { order: 'changing' } })
  for (let i = 0; i < 1000; i++) ask(service, START + 60)
  for (const order of ['newest', 'oldest', 'shuffled'])
    expect(service.state.reached.get(`order.${order}`)).toBeGreaterThan(50)
})

test('in a shuffled list every call is about as often on every page, and never twice on one', () => {
  const service = serviceOf({ history: 100, switches: { order: 'shuffled' } })
  const counts = new Map<string, number>()
  for (let i = 0; i < 600; i++) {
    const ids = idsOf(list(service, START, 'page=3&perPage=10'))
    expect(new Set(ids).size).toBe(10)
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  expect(counts.size).toBe(100)
  // Binomial, with a mean of 60: five standard deviations.
  for (const count of counts.values()) expect(Math.abs(count - 60)).toBeLessThan(5 * Math.sqrt(60))
})

test('imported calls are first in the order of insertion, ended long ago and do not count', () => {
  const service = serviceOf({ switches: { order: 'inserted', imports: 3 } })
  const before = idsOf(list(service, START))
  const after = list(service, START + 7200)
  const imported = after.data.slice(0, after.data.length - before.length)
  expect(imported.length).toBeGreaterThan(30)
  expect(idsOf(after).slice(imported.length)).toEqual(before)
  for (const { endedAt } of imported) expect(endedAt).toBeLessThan(START - 86_400)
  for (const { sessionId } of imported.slice(0, 3)) expect(getCall(service, START + 7200, sessionId).status).toBe(200)
  const options = { created: START, baseline: 'skip', now: START + 7200 } as const
  const except = new Set(idsOf(after).slice(0, imported.length))
  expect(expectedSeries(service.world.ledger, options)).toEqual(
    expectedSeries(service.world.ledger, { ...options, except }),
  )
})

test('imports do not change any other call', () => {
  const ledgers = [0, 60].map((imports) => {
    const service = serviceOf({ callsPerMinute: 5, switches: { imports } })
    advance(service.world, START + 3600, service.switches)
    return service.world.ledger.filter(({ event }) => event !== 'imported')
  })
  expect(ledgers[1]).toEqual(ledgers[0])
})
