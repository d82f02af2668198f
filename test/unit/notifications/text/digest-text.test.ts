import { describe, expect, test } from 'vitest'
import { dayWithWeekday, digestLine, digestSplit } from '../../../../src/notifications/text/digest-text.ts'
import type { DayFigures } from '../../../../src/notifications/message.ts'
import { DIGEST } from '../../../kit/notifications/sample.ts'

const [production, newCustomer, staging] = DIGEST.targets

test('a day is compared with the same weekday before', () => {
  expect(digestLine(production!)).toBe('1,204 calls (+12%), 8,310 participant minutes (-3%), 4.2% failed (3.3% before)')
})

test('where there is nothing to compare with, that is said', () => {
  expect(digestLine(newCustomer!)).toBe('2 calls, 4 participant minutes, 0% failed; no data a week before')
})

test('of no calls there is no failure rate', () => {
  expect(digestLine(staging!)).toBe('0 calls (-100%), 0 participant minutes (-100%)')
  const [day, weekBefore] = [newCustomer!.day, staging!.day]
  expect(digestLine({ target: 'staging', day, weekBefore })).toBe(
    '2 calls (0 before), 4 participant minutes (0 before), 0% failed',
  )
})

test('what was not covered is said of both days', () => {
  const { day, weekBefore } = staging!
  const blind = { ...day, blindSeconds: 86_400 }
  expect(digestLine({ target: 'staging', day: blind, weekBefore: undefined })).toBe(
    '0 calls, 0 participant minutes; not covered: 1d; no data a week before',
  )
  expect(digestLine({ target: 'staging', day, weekBefore: { ...weekBefore!, blindSeconds: 5400 } })).toBe(
    '0 calls (-100%), 0 participant minutes (-100%); not covered a week before: 1h 30m',
  )
})

describe('a change', () => {
  const figures = (total: number): DayFigures => ({
    counts: { ...staging!.day.counts, total },
    minutes: total,
    blindSeconds: 0,
  })

  test.each([
    [100, 100, '±0%'],
    [1001, 1000, '±0%'],
    [999, 1000, '±0%'],
    [112, 100, '+12%'],
    [88, 100, '-12%'],
    [5000, 1, '+499,900%'],
    [0, 0, 'as before'],
  ])('from %d, which were %d before, is shown as %s', (now, before, change) => {
    const line = digestLine({ target: 'x', day: figures(now), weekBefore: figures(before) })
    expect(line).toContain(` calls (${change}), `)
  })
})

test('the split names others only where there are any, and nothing of no calls', () => {
  expect(DIGEST.targets.map(({ day }) => digestSplit(day))).toEqual([
    ['ended 1,153, unanswered 30, rejected 15, canceled 6'],
    ['ended 1, unanswered 0, rejected 0, canceled 0, other 1'],
    [],
  ])
})

test.each([
  ['2026-11-19', 'Thursday, 2026-11-19'],
  ['2026-01-01', 'Thursday, 2026-01-01'],
  ['someday', 'someday'],
])('the day %s is shown as %s', (day, shown) => {
  expect(dayWithWeekday(day)).toBe(shown)
})
