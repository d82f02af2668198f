import { describe, expect, test } from 'vitest'

import { drawSwitches } from './draw-switches.ts'
import { ordinaryFacts } from './calls/ordinary-facts.ts'
import { faultNames } from '../../../src/simulator/answers/faults.ts'
import { oddityNames } from './answers/oddities.ts'
import { patchSwitches } from '../../../src/simulator/switches.ts'
import { defaultSwitches, switchTable } from './switches.ts'

test.each([
  [{ ordre: 'newest' }, /unknown switch "ordre"; there are .*order/],
  [{ order: 'random' }, /switch "order": expected "newest" or "oldest" or .*, got "random"/],
  [{ perPage: 0 }, /switch "perPage": expected "honoured", "ignored" or a whole number above 0 or "varying"/],
  [{ deepestPage: 0 }, /switch "deepestPage": expected "any" or a whole number/],
  [{ listedSeconds: 1.5 }, /switch "listedSeconds": expected "forever" or/],
  [{ mostListed: 'none' }, /switch "mostListed": expected "all" or/],
  [{ duplicates: 1.1 }, /switch "duplicates": expected a probability/],
  [{ dateOffset: NaN }, /switch "dateOffset": expected a number of seconds/],
  [{ facts: { vanished: 2 } }, /switch "facts": expected an object with probabilities/],
  [{ facts: { eaten: 0.1 } }, /vanished_for_a_while/],
  [{ odd: { reset: 0.1 } }, /spelling, milliseconds, fields, unusable/],
  [{ odd: { fields: '1' } }, /switch "odd"/],
  [{ fault: { reset: 0.6, hang: 0.5 } }, /switch "fault": expected an object with probabilities/],
  [{ fault: { earthquake: 0.1 } }, /http_500/],
  [{ outage: 'yes' }, /switch "outage": expected true or false/],
  [[], /expected a JSON object/],
])('patch %j is refused, and says why', (patch, problem) => {
  const result = patchSwitches(switchTable, defaultSwitches, patch)
  expect(result).toEqual({ problem: expect.stringMatching(problem) })
})

const seeds = Array.from({ length: 200 }, (_none, index) => index)
const drawn = seeds.map((seed) => drawSwitches(seed, 1))
const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)

describe('drawn switches', () => {
  test('are the same for the same seed and others for another', () => {
    expect(drawSwitches('a', 0.7)).toEqual(drawSwitches('a', 0.7))
    expect(new Set(drawn.map((switches) => JSON.stringify(switches))).size).toBe(seeds.length)
  })

  test('are all valid, and so are the defaults', () => {
    for (const switches of [defaultSwitches, ...drawn])
      expect(patchSwitches(switchTable, defaultSwitches, switches)).toEqual({ switches })
  })

  test('have every kind of fault, ordinary fact and oddity, and a quarter of all requests fail', () => {
    for (const { fault, facts, odd } of drawn) {
      expect(Object.keys(fault)).toEqual(faultNames)
      expect(Object.keys(facts)).toEqual(Object.keys(ordinaryFacts))
      expect(Object.keys(odd)).toEqual(oddityNames)
      expect(Math.min(...Object.values(fault), ...Object.values(facts), ...Object.values(odd))).toBeGreaterThan(0)
      expect(sum(Object.values(fault))).toBeCloseTo(0.25, 9)
    }
  })

  test('include each value that a switch may have', () => {
    const values = (name: keyof typeof defaultSwitches): Set<unknown> =>
      new Set(drawn.map((switches) => (typeof switches[name] === 'number' ? 'number' : switches[name])))
    expect(values('order')).toEqual(new Set(['newest', 'oldest', 'shuffled', 'changing']))
    expect(values('perPage')).toEqual(new Set(['honoured', 'ignored', 'number']))
    expect(values('getCall')).toEqual(new Set(['object', 'bare', 'list', 'bare_list']))
    for (const name of ['perPageField', 'total', 'date'] as const) {
      expect(values(name)).toEqual(new Set(['given', 'absent']))
    }
    expect(values('times')).toEqual(new Set(['both', 'startedAt']))
    expect(values('empty')).toEqual(new Set(['omitted', 'null']))
    expect(values('receiverTypes')).toEqual(new Set(['user', 'users']))
    expect(values('pathIds')).toEqual(new Set(['decoded', 'raw']))
    expect(values('deepestPage')).toEqual(new Set(['any', 'number']))
    expect(values('listedSeconds')).toEqual(new Set(['forever', 'number']))
    expect(values('unlisted')).toEqual(new Set(['found', 'not_found']))
    expect(values('rateLimitHeaders')).toEqual(new Set(['X-RateLimit', 'X-Rate-Limit', 'absent']))
    expect(drawn.filter(({ duplicates }) => duplicates > 0).length).toBeGreaterThan(50)
    expect(drawn.filter(({ dateOffset }) => dateOffset !== 0).length).toBeGreaterThan(30)
    for (const { outage, arrivals } of drawn) expect([outage, arrivals]).toEqual([false, true])
  })

  test('stay within the limits that are given', () => {
    const options = { fewestListedSeconds: 100, fewestPages: 3, mostDateOffset: 5 }
    const limited = seeds.map((seed) => drawSwitches(seed, 1, options))
    const span = (values: unknown[]): number[] => {
      const numbers = values.filter((value) => typeof value === 'number')
      return [Math.min(...numbers), Math.max(...numbers)]
    }
    const [shortest, longest] = span(limited.map(({ listedSeconds }) => listedSeconds))
    expect(shortest).toBeGreaterThanOrEqual(100)
    expect(longest).toBeLessThanOrEqual(400)
    expect(span(limited.map(({ deepestPage }) => deepestPage))).toEqual([3, 6])
    expect(span(limited.map(({ dateOffset }) => Math.abs(dateOffset)))).toEqual([0, 5])
  })

  test('of intensity 0 have no fault, no fact and no oddity', () => {
    for (const seed of seeds) {
      const { fault, facts, odd, duplicates, date, dateOffset, listedSeconds } = drawSwitches(seed, 0)
      const probabilities = [fault, facts, odd].flatMap((each) => Object.values(each))
      expect(sum(probabilities) + duplicates + dateOffset).toBe(0)
      expect([date, listedSeconds]).toEqual(['given', 'forever'])
    }
  })
})
