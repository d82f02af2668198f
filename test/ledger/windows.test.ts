import { describe, expect, test } from 'vitest'
import { countWindow, failureRatio } from '../../src/ledger/failure-ratio.ts'
import { countByStatus, keptFinishes, withFinishes } from '../../src/ledger/finished-calls.ts'
import { finishAt as finish } from '../alerts/sample-rules.ts'

describe('what is kept of finished calls', () => {
  test('stays in order whatever comes in, and drops what is too old', () => {
    const minutes = (...numbers: number[]) => numbers.map((number) => finish(60 * number))
    const kept = keptFinishes(minutes(10, 20, 30))
    for (const added of minutes(25, 15, 5)) kept.add(added)
    kept.dropBefore(60 * 15)
    expect(kept.between(-Infinity, Infinity).map(({ at }) => at / 60)).toEqual([15, 20, 25, 30])
  })

  test('is the same where nothing is added', () => {
    const kept = keptFinishes([finish(10), finish(20)])
    expect(withFinishes(kept, [])).toBe(kept)
  })

  test('counts by status from the first second to the last, both included', () => {
    const finishes = [finish(9), finish(10, 'rejected'), finish(15, 'other'), finish(20), finish(21, 'rejected')]
    expect(countByStatus(keptFinishes(finishes).tally(10, 20))).toEqual({
      ended: 1,
      unanswered: 0,
      rejected: 1,
      canceled: 0,
      other: 1,
      total: 3,
    })
  })
})

test('a window reaches back to the last good look where that is earlier', () => {
  const list = keptFinishes([finish(100), finish(500), finish(990)])
  expect(countWindow(list, 60, { now: 1000, previousSuccess: 985 }).total).toBe(1)
  expect(countWindow(list, 60, { now: 1000, previousSuccess: 400 }).total).toBe(2)
  expect(countWindow(list, 60, { now: 1000, previousSuccess: undefined }).total).toBe(1)
})

test.each([
  ['any', 0.6],
  ['unanswered', 0.1],
  ['rejected', 0.2],
  ['canceled', 0.3],
] as const)('the failure ratio by %s', (reason, ratio) => {
  const counts = { ended: 3, unanswered: 1, rejected: 2, canceled: 3, other: 1, total: 10 }
  expect(failureRatio(counts, reason)).toBeCloseTo(ratio, 12)
})
