import { expect, test } from 'vitest'
import { usedMinutes } from '../../src/web/used-minutes.ts'

const at = (iso: string) => Date.parse(iso) / 1000
const USAGE = new Map([
  [at('2026-10-31T23:45Z'), 1],
  [at('2026-11-01T00:00Z'), 2],
  [at('2026-11-19T23:45Z'), 4],
  [at('2026-11-20T00:00Z'), 8],
  [at('2026-11-20T14:00Z'), 16],
])

test('the day and the month begin at midnight UTC', () => {
  expect(usedMinutes(USAGE, at('2026-11-20T14:07:00Z'))).toEqual({
    day: { from: at('2026-11-20T00:00Z'), minutes: 24 },
    month: { from: at('2026-11-01T00:00Z'), minutes: 30 },
  })
})

test('a day that has just begun has no minutes yet', () => {
  expect(usedMinutes(USAGE, at('2026-11-21T00:00:00Z')).day).toEqual({ from: at('2026-11-21T00:00Z'), minutes: 0 })
})
