import { expect, test } from 'vitest'
import { incidentsAfter } from '../../../src/commands/demo/past.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const MONDAY = Date.UTC(2026, 10, 16) / 1000

test('a past of a day has an incident at any hour of any day of the week', () => {
  for (let now = MONDAY; now < MONDAY + 7 * DAY; now += HOUR) {
    const incidents = incidentsAfter(now - DAY, now)
    expect(incidents.length).toBeGreaterThanOrEqual(1)
    expect(incidents.at(-1)!.end).toBeLessThan(now)
  }
})

test('a past of 35 days has four incidents, one after another', () => {
  for (let now = MONDAY; now < MONDAY + 7 * DAY; now += HOUR) {
    const begins = incidentsAfter(now - 35 * DAY, now).map(({ begin }) => begin)
    expect(begins).toHaveLength(4)
    expect(begins).toEqual(begins.toSorted((a, b) => a - b))
  }
})
