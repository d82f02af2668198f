import { expect, test } from 'vitest'

import { faultNames } from '../../../src/simulator/answers/faults.ts'
import { defaultSwitches, drawSwitches, patchSwitches, switchTable } from '../../../src/simulator/switches.ts'

const seeds = Array.from({ length: 200 }, (_none, index) => index)
const drawn = seeds.map((seed) => ({ ...defaultSwitches, ...drawSwitches(switchTable, seed, 1) }))

test('drawn switches are all valid, and the same for the same seed', () => {
  for (const switches of drawn) expect(patchSwitches(switchTable, defaultSwitches, switches)).toEqual({ switches })
  expect(drawSwitches(switchTable, 7, 1)).toEqual(drawSwitches(switchTable, 7, 1))
  expect(new Set(drawn.map((switches) => JSON.stringify(switches))).size).toBe(seeds.length)
})

test.each([1, 0.5, 0])('of all requests a quarter times the intensity %d fail, in any way', (intensity) => {
  const { fault = {} } = drawSwitches(switchTable, 'a', intensity)
  expect(Object.keys(fault)).toEqual(faultNames)
  expect(Object.values(fault).reduce((sum, each) => sum + each, 0)).toBeCloseTo(0.25 * intensity, 9)
})

test('drawn switches include each value that they may have', () => {
  const values = (name: 'order' | 'perPage' | 'total' | 'rateLimitHeaders') =>
    new Set(drawn.map((switches) => (typeof switches[name] === 'number' ? 'number' : switches[name])))
  expect(values('order')).toEqual(new Set(['newest', 'oldest', 'shuffled']))
  expect(values('perPage')).toEqual(new Set(['honoured', 'ignored', 'number']))
  expect(values('total')).toEqual(new Set(['given', 'absent']))
  expect(values('rateLimitHeaders')).toEqual(new Set(['X-RateLimit', 'X-Rate-Limit', 'absent']))
  for (const { outage, arrivals } of drawn) expect([outage, arrivals]).toEqual([false, true])
})
