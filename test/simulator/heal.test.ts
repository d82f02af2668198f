import { expect, test } from 'vitest'

import { isFinal } from '../../src/simulator/counted-calls.ts'
import { heal } from '../../src/simulator/heal.ts'
import { advance } from '../../src/simulator/world.ts'
import { START, serviceOf, named } from './world-with-facts.ts'

test('healed, a world has nothing out of the ordinary to come, and turns back what is turned', () => {
  const every = { corrected: 0.5, final_changed: 0.5, vanished: 0.3, vanished_for_a_while: 0.5, labels_changed: 0.5 }
  const service = serviceOf({ ...every, unknown_status: 0.5, without_ended_at: 0.5, recorded_late: 0.5 }, 300)
  const before = service.world.ledger.length
  const lastOf = new Map(service.world.ledger.map((event) => [event.sessionId, event]))
  const gone = [...lastOf.values()].filter(({ event }) => event === 'vanished').length
  const reopened = [...lastOf.values()].filter(({ event, status }) => event === 'final_changed' && status === 'ongoing')
  heal(service)
  advance(service.world, START + 20_000, service.switches)
  const after = service.world.ledger.slice(before)
  const names = after.map(({ event }) => event)
  for (const name of ['vanished', 'corrected', 'relabelled', 'paused', 'dated', 'recorded'])
    expect(names).not.toContain(name)
  expect(after.length).toBeGreaterThan(15)
  expect(named(after, 'returned').length).toBeGreaterThan(0)
  expect(named(after, 'returned').length).toBeLessThan(gone)
  expect(reopened.length).toBeGreaterThan(0)
  expect(
    named(after, 'final_changed')
      .map(({ sessionId }) => sessionId)
      .toSorted(),
  ).toEqual(expect.arrayContaining(reopened.map(({ sessionId }) => sessionId)))
  for (const event of named(after, 'final_changed')) expect(isFinal(event)).toBe(true)
})
