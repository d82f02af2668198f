import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wilsonBounds } from '../../../src/alerts/wilson.ts'
import { runs } from '../../kit/runs.ts'

describe('the Wilson bounds equal published ones', () => {
  // R. G. Newcombe, "Two-sided confidence intervals for the single proportion: comparison of seven methods",
  // Statistics in Medicine 17 (1998) 857–872, table I, method 3 (score, no continuity correction): two-sided at 95%,
  // so each bound at 97.5%.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('for %d of %d at 97.5%: %d to %d', (hits, n, lower, upper) => {
    const bounds = wilsonBounds(hits, n, 0.975)
    expect(bounds.lower).toBeCloseTo(lower, 4)
    expect(bounds.upper).toBeCloseTo(upper, 4)
  })

  // SciPy 1.17.1: binomtest(hits, n, alternative='greater' | 'less').proportion_ci(confidence, method='wilson').
  test.each([
    [2, 10, 0.95, 0.068558, 0.4592072],
    [0, 10, 0.95, 0, 0.212942],
    [10, 10, 0.95, 0.787058, 1],
    [7, 20, 0.95, 0.20226, 0.5334873],
    [10, 20, 0.95, 0.3274038, 0.6725962],
    [10, 20, 0.9, 0.362262, 0.637738],
    [10, 20, 0.99, 0.2692583, 0.7307417],
    [5, 10, 0.999, 0.1505437, 0.8494563],
    [1, 2, 0.8, 0.2442968, 0.7557032],
    [1, 1, 0.95, 0.2698659, 1],
    [326, 1000, 0.95, 0.3021161, 0.3508229],
  ])('and one-sided, for %d of %d at %d: %d and %d', (hits, n, confidence, lower, upper) => {
    const bounds = wilsonBounds(hits, n, confidence)
    expect(bounds.lower).toBeCloseTo(lower, 5)
    expect(bounds.upper).toBeCloseTo(upper, 5)
  })
})

test('from 0 to 1 for no calls', () => {
  expect(wilsonBounds(0, 0, 0.95)).toEqual({ lower: 0, upper: 1 })
})

describe('the Wilson bounds of any numbers', () => {
  const seen = fc
    .integer({ min: 1, max: 5000 })
    .chain((n) => fc.record({ n: fc.constant(n), hits: fc.integer({ min: 0, max: n }) }))
  const confidence = fc.double({ min: 0.501, max: 0.9999, noNaN: true })
  const many = { numRuns: runs(2000) }
  const NEARLY = 1e-9

  // Quantiles of the normal distribution: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.1, to more digits.
  test.each([
    [0.9, 1.2815515655],
    [0.95, 1.644853627],
    [0.975, 1.9599639845],
    [0.99, 2.326347874],
    [0.999, 3.0902323062],
  ])('a bound at %d is the share from which it lies %d standard errors away, as Wilson defines it', (sureness, z) => {
    fc.assert(
      fc.property(seen, ({ hits, n }) => {
        const { lower, upper } = wilsonBounds(hits, n, sureness)
        const errors = (bound: number) => (hits / n - bound) / Math.sqrt((bound * (1 - bound)) / n)
        if (hits > 0) expect(errors(lower)).toBeCloseTo(z, 4)
        else expect(lower).toBeCloseTo(0, 12)
        if (hits < n) expect(errors(upper)).toBeCloseTo(-z, 4)
        else expect(upper).toBeCloseTo(1, 12)
      }),
      many,
    )
  })

  test('the share lies between the bounds, and they between 0 and 1', () => {
    fc.assert(
      fc.property(seen, confidence, ({ hits, n }, sureness) => {
        const { lower, upper } = wilsonBounds(hits, n, sureness)
        expect(lower).toBeGreaterThanOrEqual(0)
        expect(lower).toBeLessThanOrEqual(hits / n + NEARLY)
        expect(upper).toBeGreaterThanOrEqual(hits / n - NEARLY)
        expect(upper).toBeLessThanOrEqual(1)
      }),
      many,
    )
  })

  test('more confidence takes wider bounds', () => {
    fc.assert(
      fc.property(seen, confidence, confidence, ({ hits, n }, one, other) => {
        const [less, more] = [wilsonBounds(hits, n, Math.min(one, other)), wilsonBounds(hits, n, Math.max(one, other))]
        expect(more.lower).toBeLessThanOrEqual(less.lower + NEARLY)
        expect(more.upper).toBeGreaterThanOrEqual(less.upper - NEARLY)
      }),
      many,
    )
  })
})
