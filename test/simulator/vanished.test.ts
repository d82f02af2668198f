import { describe, expect, test } from 'vitest'

import { setSwitches } from '../../src/simulator/create-service.ts'
import { isFinal } from '../../src/simulator/counted-calls.ts'
import { sizeOf } from '../../src/simulator/listing.ts'
import { truth } from '../../src/simulator/truth.ts'
import { advance } from '../../src/simulator/world.ts'
import { START, serviceOf, livesIn, wires, named, some, get } from './world-with-facts.ts'

describe('a call', () => {
  test('that has vanished is neither listed nor known to Get Call', () => {
    const service = serviceOf({ vanished: 1 }, 20_000)
    const lives = livesIn(service)
    const open = some(lives, (events) => !events.some(isFinal))
    expect(open).toBeGreaterThan(lives.length / 2)
    expect(open).toBeLessThan(lives.length)
    for (const events of lives) expect(events.at(-1)!.event).toBe('vanished')
    expect([sizeOf(service.world.listing), service.world.entries.size]).toEqual([0, 0])
    expect(get(service, lives[0]![0]!.sessionId, START + 20_000)).toBe(404)
  })

  test('that has vanished while it was open has started and is neither finished nor in progress', () => {
    const { ledger } = serviceOf({ vanished: 1 }, 20_000).world
    const series = truth(ledger, { created: START, baseline: 'skip', now: START + 20_000 })
    const total = (family: string): number =>
      [...series].filter(([name]) => name.startsWith(`${family}{`)).reduce((sum, [, value]) => sum + value, 0)
    const lives = [...Map.groupBy(ledger, ({ sessionId }) => sessionId).values()]
    expect(total('callwatch_calls_started_total')).toBe(lives.length)
    expect(total('callwatch_calls_total')).toBe(some(lives, (events) => events.some(isFinal)))
    expect(total('callwatch_calls_in_progress')).toBe(0)
  })

  test('that has vanished for a while comes back with what has become of it', () => {
    const service = serviceOf({ vanished_for_a_while: 1 }, 20_000)
    const lives = livesIn(service)
    for (const events of lives) {
      const names = events.map(({ event }) => event)
      const gone = names.indexOf('vanished')
      expect(names.indexOf('returned')).toBe(gone + 1)
      expect(isFinal(events.at(-1)!)).toBe(true)
    }
    expect(
      some(lives, (events) => named(events, 'returned').some((event) => event === events.find(isFinal))),
    ).toBeGreaterThan(5)
    const listed = wires(service).map(({ initiatedAt }) => Number(initiatedAt))
    expect(listed).toHaveLength(lives.length)
    expect(listed).toEqual(listed.toSorted((a, b) => a - b))
  })

  test('that has vanished for a while is not there meanwhile', () => {
    const service = serviceOf({ vanished_for_a_while: 1 }, 0)
    setSwitches(service, { arrivals: true })
    let missed = 0
    for (let at = START; at < START + 900; at += 3) {
      advance(service.world, at, service.switches)
      const listed = new Set(wires(service).map(({ sessionId }) => sessionId))
      for (const events of livesIn(service)) {
        const { sessionId, event } = events.at(-1)!
        if (event === 'vanished') missed++
        expect(listed.has(sessionId)).toBe(event !== 'vanished')
      }
    }
    expect(missed).toBeGreaterThan(50)
  })
})
