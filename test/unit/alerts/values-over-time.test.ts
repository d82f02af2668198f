import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { addValue, type ValueAt } from '../../../src/alerts/values-over-time.ts'

const from = 1_763_625_600

/** The values after each was added. */
const added = (values: readonly ValueAt[], breach: 'above' | 'below' = 'above') =>
  values.reduce<readonly ValueAt[]>((kept, value) => addValue(kept, value, breach), [])

const at = (...values: (readonly [seconds: number, value: number | null])[]): ValueAt[] =>
  values.map(([seconds, value]) => [from + seconds, value])

test('of each minute the worst value is kept, with its time', () => {
  const values = at([0, 1], [15, 3], [30, 2], [60, 2], [75, 1], [130, 5])
  expect(added(values)).toEqual(at([15, 3], [60, 2], [130, 5]))
  expect(added(values, 'below')).toEqual(at([0, 1], [75, 1], [130, 5]))
})

test('too few calls are kept where the minute has no value', () => {
  expect(added(at([0, null], [15, 3], [30, null], [60, null], [75, null]))).toEqual(at([15, 3], [60, null]))
})

test('over a long time the steps are longer, and the worst value is still there', () => {
  const hour = Array.from({ length: 4 * 60 }, (_, i): ValueAt => [from + i * 15, i === 77 ? 9 : 1])
  expect(added(hour)).toHaveLength(60)
  const day = Array.from({ length: 24 * 60 }, (_, i): ValueAt => [from + i * 60, i === 777 ? 9 : 1])
  const kept = added(day)
  expect(kept).toHaveLength(90)
  expect(kept).toContainEqual([from + 777 * 60, 9])
})

test('whatever the clock does, they are at most a hundred, in order, and among them the worst', () => {
  const value = fc.tuple(fc.integer({ min: 0, max: 2e9 }), fc.option(fc.integer({ min: 0, max: 5 })))
  const near = fc.tuple(fc.integer({ min: from, max: from + 20_000 }), fc.option(fc.integer({ min: 0, max: 5 })))
  fc.assert(
    fc.property(fc.array(fc.oneof(near, near, value), { minLength: 1, maxLength: 300 }), (values) => {
      const kept = added(values)
      const highest = (all: readonly ValueAt[]) => Math.max(-1, ...all.map(([, one]) => one ?? -1))
      expect(kept.length).toBeLessThanOrEqual(100)
      expect(kept).toEqual(kept.toSorted(([a], [b]) => a - b))
      expect(highest(kept)).toBe(highest(values))
    }),
  )
})
