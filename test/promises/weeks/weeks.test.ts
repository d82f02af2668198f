import { describe, expect, test } from 'vitest'
import { summaryOf } from '../../../src/alerts/text/alert-text.ts'
import { DAY, fewerCalls, firedIn, historyOf, HOUR, WEEK, type Weeks } from './simulated-weeks.ts'

const at = (text: string) => Date.parse(text) / 1000
/** A Monday. */
const START = at('2026-08-31T00:00:00Z')
const CALM: Weeks = { seed: 1, rate: 200, from: START, to: START + 5 * WEEK + 3 * DAY }
/** Fewer calls for some hours. */
const drop = (from: number, hours: number, left: number) => (time: number) =>
  time >= from && time < from + hours * HOUR ? left : 1

const minutesAfter = (from: number, fired: ReturnType<typeof firedIn>) =>
  fired.map(({ kind, at: time }) => `${kind} after ${Math.round((time - from) / 60)}m`)

describe('FewerCalls', () => {
  const tuesdayNoon = START + 5 * WEEK + DAY + 12 * HOUR

  test('says nothing of five ordinary weeks, nor of an app in its first week', () => {
    expect(firedIn(historyOf(CALM))).toEqual([])
    const first = { ...CALM, to: START + WEEK, factor: drop(START + 4 * DAY, 6, 0.1) }
    expect(firedIn(historyOf(first))).toEqual([])
  })

  test('says nothing of 30% fewer calls', () => {
    expect(firedIn(historyOf({ ...CALM, factor: drop(tuesdayNoon, 4, 0.7) }))).toEqual([])
  })

  test('fires on 60% fewer calls within the hour, and resolves when they are back', () => {
    const fired = firedIn(historyOf({ ...CALM, factor: drop(tuesdayNoon, 4, 0.4) }))
    expect(minutesAfter(tuesdayNoon, fired)).toEqual(['firing after 70m', 'resolved after 275m'])
    expect(summaryOf(fired[0]!)).toBe(
      'calls finished: 166 in the last 1h, 55.1% below the same time in the last 4 weeks (370, 370, 381, 356)',
    )
  })

  test('a holiday fires on that day, and a week later neither fires nor hides a drop', () => {
    const holiday = START + 4 * WEEK
    const ofHoliday = drop(holiday, 24, 0.2)
    const fired = firedIn(historyOf({ ...CALM, factor: ofHoliday }))
    expect(fired.length).toBeGreaterThan(0)
    expect(fired.map(({ at: time }) => Math.floor((time - holiday) / DAY))).toEqual(
      fired.map((_, i) => (i === fired.length - 1 ? 1 : 0)),
    )
    const later = holiday + WEEK + 12 * HOUR
    const both = (time: number) => Math.min(ofHoliday(time), drop(later, 4, 0.4)(time))
    const again = firedIn(historyOf({ ...CALM, factor: both })).filter(({ at: time }) => time >= holiday + 2 * DAY)
    expect(minutesAfter(later, again)).toEqual(['firing after 65m', 'resolved after 280m'])
  })

  test.each([
    ['Europe/Berlin', '2026-10-25T00:00:00Z'],
    ['America/New_York', '2026-11-01T00:00:00Z'],
    ['Europe/Berlin', '2027-03-28T00:00:00Z'],
    ['America/New_York', '2027-03-14T00:00:00Z'],
  ])('compares by the clocks of %s around their change on %s', (timezone, change) => {
    const from = at(change) - 4 * WEEK
    const history = historyOf({ ...CALM, timezone, from, to: at(change) + 10 * DAY })
    expect(firedIn(history, [fewerCalls({ timezone })])).toEqual([])
    // By UTC, calls are missing: of the mornings after the clocks went back, or of the evenings after they went forward.
    expect(firedIn(history, [fewerCalls({ timezone: 'UTC' })])).not.toEqual([])
  })

  test('after an outage of callwatch last week, the other weeks count', () => {
    const lastWeek = START + 4 * WEEK + DAY
    const outage = [{ from: lastWeek, to: lastWeek + 2 * DAY }]
    const factor = drop(tuesdayNoon, 4, 0.4)
    const fired = firedIn(historyOf({ ...CALM, factor }, outage))
    expect(minutesAfter(tuesdayNoon, fired)).toEqual(['firing after 70m', 'resolved after 275m'])
    expect(fired[0]!.compared!.earlier).toHaveLength(3)
    expect(firedIn(historyOf(CALM, outage))).toEqual([])
  })
})

test('FewerCalls does not fire in eight ordinary weeks, and fires about an hour after 60% of all calls vanish', () => {
  const rows = [5, 50, 500].map((rate) => {
    const weeks = { rate, from: START, to: START + 12 * WEEK }
    const counted = [1, 2, 3].flatMap((seed) =>
      firedIn(historyOf({ ...weeks, seed })).filter(
        ({ kind, at: time }) => kind === 'firing' && time > START + 4 * WEEK,
      ),
    )
    const noon = START + 11 * WEEK + DAY + 12 * HOUR
    const [first] = [1]
      .flatMap((seed) => firedIn(historyOf({ ...weeks, seed, factor: drop(noon, 6, 0.4) })))
      .filter(({ at: time }) => time >= noon)
    return [rate, counted.length, first && Math.round((first.at - noon) / 60)]
  })
  expect(rows).toEqual([
    [5, 0, undefined],
    [50, 0, 60],
    [500, 0, 65],
  ])
})
