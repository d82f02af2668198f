import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contributorOf, forecastOf, trendOf } from '../../../../src/notifications/text/alert-facts.ts'
import { FIRING, NO_POLL, SIGNALS } from '../../../kit/notifications/sample.ts'

const line = (trend: (number | null)[], threshold = 0) => trendOf({ ...FIRING, trend, threshold })?.split(' ')[0]

describe('the trend', () => {
  test.each<[(number | null)[], number, string]>([
    [[0, 0.5, 1], 0.3, '▁▅█'],
    // The threshold is the top where no value reaches it.
    [[0.05, 0.15, 0.19], 0.8, '▁▂▂'],
    [[0, 1 / 8, 2 / 8, 3 / 8, 4 / 8, 5 / 8, 6 / 8, 7 / 8], 1, '▁▂▃▄▅▆▇█'],
    [[null, 0.5, null], 0.5, '·█·'],
    [[NaN, 3, Infinity], 0, '·█·'],
    [[0, 0], 0, '▁▁'],
    [[-1, 2], 0, '▁█'],
  ])('of %j at the threshold %d is drawn as %s', (trend, threshold, bars) => {
    expect(line(trend, threshold)).toBe(bars)
  })

  test('says how long its windows are, and the value of the one before, if that is known', () => {
    expect(trendOf(FIRING)).toBe('▁▂·▂▂▃▄█ last 8 × 15m; 21% 15m before')
    expect(trendOf({ ...SIGNALS.calls_finished, trend: [3, 2, 1] })).toBe('█▆▃ last 3 × 1h; 2 calls 1h before')
    expect(trendOf({ ...FIRING, trend: [0.1, null, 0.4] })).toMatch(/ last 3 × 15m$/)
  })

  test('is not drawn where there is nothing to draw', () => {
    const { trend: _trend, ...without } = FIRING
    expect([trendOf(without), line([]), line([null, null]), trendOf({ ...NO_POLL, trend: [1] })]).toEqual(
      Array.from({ length: 4 }),
    )
  })

  test('has a bar for each window, never a lower one for a higher value', () => {
    const values = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1e9, noNaN: true }), (trend, threshold) => {
        const bars = Array.from(line(trend, threshold)!)
        expect(bars).toHaveLength(trend.length)
        const byValue = bars.toSorted((a, b) => (a < b ? -1 : 1))
        expect(
          line(
            trend.toSorted((a, b) => a - b),
            threshold,
          ),
        ).toBe(byValue.join(''))
      }),
    )
  })
})

test('the top contributor has its shares of the failures and of the calls', () => {
  expect(contributorOf(FIRING)).toBe('type video: 14 of 17 failures (82%), in 22 of 40 calls (55%)')
  const contributor = { label: 'mode', value: 'call', failures: 2, ofFailures: 4, calls: 1, ofCalls: 1000 } as const
  expect(contributorOf({ ...FIRING, contributor })).toBe('mode call: 2 of 4 failures (50%), in 1 of 1,000 calls (0%)')
  expect(contributorOf(NO_POLL)).toBeUndefined()
})

test('a budget has a forecast while it fires', () => {
  const { budget_minutes: budget } = SIGNALS
  expect(forecastOf(budget)).toBe('at this rate 104,000 min, 104% of the limit, by the end of the month')
  expect([forecastOf({ ...budget, kind: 'resolved' }), forecastOf({ ...FIRING, forecast: 1 })]).toEqual([
    undefined,
    undefined,
  ])
})
