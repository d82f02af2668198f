import { expect, test } from 'vitest'
import { valuesOfDay } from '../../../src/alerts/values-of-day.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'

const QUARTER = 900
const START = 1_800_000_000
const worst = (value: number, rule = RATIO) => new Map([[rule, { value, calls: 40, labels: {} }]])

test('a rule has the worst value of each quarter of an hour, none of a time without an evaluation, and nothing older than a day', () => {
  const day = valuesOfDay()
  expect([day.latest(RATIO), day.of(RATIO, START)]).toEqual([undefined, []])
  day.note(worst(0.25), START)
  day.note(worst(0.55), START + 10)
  day.note(worst(0.125), START + 20)
  day.note(worst(0.75), START + 3 * QUARTER)
  expect(day.latest(RATIO)).toEqual({ value: 0.75, calls: 40, labels: {} })
  // An evaluation on too few calls has no value, and takes none of before.
  day.note(new Map([[RATIO, undefined]]), START + 3 * QUARTER)
  expect(day.latest(RATIO)).toBeUndefined()
  const valuesAt = (now: number) => day.of(RATIO, now).map(([, value]) => value)
  expect(day.of(RATIO, START + 4 * QUARTER).slice(-6)).toEqual([
    [START - QUARTER, null],
    [START, 0.55],
    [START + QUARTER, null],
    [START + 2 * QUARTER, null],
    [START + 3 * QUARTER, 0.75],
    [START + 4 * QUARTER, null],
  ])
  expect(valuesAt(START)).toHaveLength(96)
  expect(valuesAt(START + 95 * QUARTER)[0]).toBe(0.55)
  day.note(worst(0.25), START + 97 * QUARTER)
  expect(valuesAt(START + 97 * QUARTER).filter((value) => value !== null)).toEqual([0.75, 0.25])
  // After days without an evaluation.
  day.note(worst(0.5), START + 1000 * QUARTER)
  expect(valuesAt(START + 1000 * QUARTER).filter((value) => value !== null)).toEqual([0.5])
})

test('a rule that measures something else since a reload has none of the values of before; another threshold changes nothing', () => {
  const day = valuesOfDay()
  day.note(worst(0.25), START)
  const other = { ...RATIO, match: { type: 'video' as const } }
  expect(day.of({ ...RATIO, threshold: 0.9 }, START).at(-1)).toEqual([START, 0.25])
  expect(day.of(other, START)).toEqual([])
  day.note(worst(0.5, other), START)
  expect(day.of(other, START).at(-1)).toEqual([START, 0.5])
  expect(day.of(RATIO, START)).toEqual([])
})
