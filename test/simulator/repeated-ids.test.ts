import { expect, test } from 'vitest'

import { heal } from '../../src/simulator/heal.ts'
import { addBurst } from '../../src/simulator/plan.ts'
import { setAside } from '../../src/simulator/set-aside.ts'
import { truth } from '../../src/simulator/truth.ts'
import { ask, idsOf, list, serviceOf, START } from './asked-service.ts'

const pairsOf = <Row extends { sessionId: string }>(rows: Row[]): Row[][] =>
  [...Map.groupBy(rows, ({ sessionId }) => sessionId).values()].filter(({ length }) => length === 2)

test('a doubled call is in the list twice, as it is, and is one call', () => {
  const service = serviceOf({ switches: { facts: { doubled: 1 } } })
  const { data, meta } = list(service, START)
  expect([data.length, meta.pagination.total]).toEqual([120, 120])
  for (const [one, other] of pairsOf(data)) expect(one).toEqual(other)
  const plain = serviceOf()
  expect(service.world.ledger).toEqual(plain.world.ledger)
})

test.each([
  ['repeated', 3600],
  ['reused', 3 * 86_400],
] as const)(
  '%s: another row has the id of a call and began earlier, and Get Call knows the later one',
  (fact, most) => {
    const service = serviceOf({ switches: { facts: { [fact]: 1 } } })
    const pairs = pairsOf(list(service, START).data)
    expect(pairs).toHaveLength(60)
    for (const [later, earlier] of pairs) {
      expect(later!.initiatedAt).toBeGreaterThan(earlier!.initiatedAt)
      expect(later!.initiatedAt - earlier!.initiatedAt).toBeLessThanOrEqual(most)
      expect(earlier!.endedAt).toBeLessThanOrEqual(later!.initiatedAt)
      const path = `/v3/calls/${encodeURIComponent(later!.sessionId)}`
      expect(JSON.parse(ask(service, START, path).body).data).toEqual(later)
    }
    const options = { created: START - 7200, baseline: 'skip', now: START } as const
    expect(truth(service.world.ledger, options)).toEqual(truth(serviceOf().world.ledger, options))
    expect(setAside(service.world.ledger).repeatedId).toHaveLength(fact === 'repeated' ? 60 : 0)
  },
)

test('the further row leaves the list by its own age, and nothing becomes of the call', () => {
  const service = serviceOf({ switches: { facts: { reused: 1 } } })
  service.switches = { ...service.switches, mostListed: 60 }
  const rows = list(service, START + 1).data
  expect(pairsOf(rows)).toEqual([])
  expect(rows).toHaveLength(60)
  expect(service.world.ledger.filter(({ event }) => event === 'unlisted')).toEqual([])
})

test('big ids are numbers by whose digits alone calls differ', () => {
  const service = serviceOf({ callsPerMinute: 60, switches: { facts: { big_id: 1 } } })
  const { body } = ask(service, START + 60)
  const digits = [...body.matchAll(/"sessionId":(\d{28}),/g)].map(([, id]) => id!)
  expect(new Set(digits).size).toBeGreaterThan(80)
  expect(new Set(digits.map(Number)).size).toBeLessThan(new Set(digits).size / 2)
  expect(new Set(digits)).toEqual(new Set(service.world.ledger.map(({ sessionId }) => sessionId)))
  expect(ask(service, START + 60, `/v3/calls/${digits[0]}`).body).toContain(`"sessionId":${digits[0]},`)
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

test('an endedAt more than a day ahead is no time that anything happened at, and becomes plausible within two hours', () => {
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
  const service = serviceOf({ switches: { facts: { doubled: 0.5, reused: 0.5 } } })
  const before = idsOf(list(service, START))
  heal(service)
  expect(idsOf(list(service, START))).toEqual(before)
})
