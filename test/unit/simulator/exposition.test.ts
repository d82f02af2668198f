import { describe, expect, test } from 'vitest'
import { seriesName } from '../../../src/simulator/expected/expected-series.ts'
import { difference, lessCorrections, parseExposition } from '../../kit/replay/exposition.ts'

const text = `# HELP callwatch_calls_total Calls
# TYPE callwatch_calls_total counter
callwatch_calls_total{type="audio",target="a",mode="call"} 3
callwatch_calls_total{target="b",mode="call",type="audio"} 4 1800000000000
callwatch_store_writable 1
callwatch_call_duration_seconds_bucket{le="+Inf",target="a"} 2
callwatch_api_ratelimit_remaining{target="a\\"}, \\\\n\\n"} NaN
process_cpu_seconds_total 12.5

`

describe('an exposition', () => {
  test('is parsed into callwatch_ series without target, with sorted labels', () => {
    expect([...parseExposition(text, 'a')]).toEqual([
      ['callwatch_calls_total{mode="call",type="audio"}', 3],
      ['callwatch_store_writable', 1],
      ['callwatch_call_duration_seconds_bucket{le="+Inf"}', 2],
    ])
  })

  test('of several targets is added up if none is named', () => {
    expect(parseExposition(text).get('callwatch_calls_total{mode="call",type="audio"}')).toBe(7)
    expect(parseExposition(text).get('callwatch_api_ratelimit_remaining')).toBeNaN()
  })

  test('names a line that is no sample', () => {
    expect(() => parseExposition('callwatch_up{target="a"} yes')).toThrow('no sample: callwatch_up{target="a"} yes')
    expect(() => parseExposition('callwatch_up')).toThrow('no sample')
  })

  test('keeps what is in label values', () => {
    const value = 'a "quoted", {braced} \\ back\nslash'
    const name = seriesName('callwatch_x', { label: value, target: 't' })
    expect([...parseExposition(`${name} 1`)]).toEqual([[seriesName('callwatch_x', { label: value }), 1]])
  })
})

describe('the difference', () => {
  const families = ['callwatch_calls_total', 'callwatch_call_minutes_total', 'callwatch_call_duration_seconds']
  const between = (expected: Record<string, number>, actual: Record<string, number>) =>
    difference(new Map(Object.entries(expected)), new Map(Object.entries(actual)), families)

  test('names the series whose values differ, in both directions', () => {
    expect(between({ 'callwatch_calls_total{a="1"}': 2 }, { 'callwatch_calls_total{a="2"}': 3 })).toEqual([
      { series: 'callwatch_calls_total{a="1"}', expected: 2, actual: 0 },
      { series: 'callwatch_calls_total{a="2"}', expected: 0, actual: 3 },
    ])
  })

  test('takes an absent series for 0', () => {
    expect(between({}, { callwatch_calls_total: 0 })).toEqual([])
    expect(between({ callwatch_calls_total: 0 }, {})).toEqual([])
  })

  test('is limited to the requested families, with all series of histograms', () => {
    expect(between({}, { callwatch_calls_total_other: 1, callwatch_polls_total: 5 })).toEqual([])
    const suffixes = ['bucket', 'sum', 'count'].map((suffix) => `callwatch_call_duration_seconds_${suffix}`)
    for (const series of suffixes) expect(between({}, { [series]: 1 })).toHaveLength(1)
  })

  test('allows minutes and sums a billionth, and counts nothing', () => {
    const near = 1000 * (1 + 5e-10)
    const far = 1000 * (1 + 2e-9)
    for (const series of ['callwatch_call_minutes_total', 'callwatch_call_duration_seconds_sum']) {
      expect(between({ [series]: 1000 }, { [series]: near })).toEqual([])
      expect(between({ [series]: 1000 }, { [series]: far })).toHaveLength(1)
    }
    expect(between({ callwatch_calls_total: 1000 }, { callwatch_calls_total: near })).toHaveLength(1)
  })
})

test('minutes less corrections are sums by medium and level, and invited people by outcome', () => {
  const series = new Map([
    ['callwatch_call_minutes_total{media="audio",type="audio"}', 5],
    ['callwatch_call_minutes_total{media="audio",type="video"}', 2],
    ['callwatch_participant_minutes_total{media="audio"}', 9],
    ['callwatch_minutes_corrections_total{level="call",media="audio"}', 1],
    ['callwatch_minutes_corrections_total{level="participant",media="audio"}', 4],
    ['callwatch_calls_total{status="ended"}', 3],
    ['callwatch_calls_recorded_total', 1],
    ['callwatch_invited_total{outcome="absent",type="audio"}', 5],
    ['callwatch_invited_total{outcome="absent",type="video"}', 2],
    ['callwatch_invited_corrections_total{outcome="absent"}', 3],
  ])
  expect(Object.fromEntries(lessCorrections(series))).toEqual({
    'callwatch_call_minutes_total{media="audio"}': 6,
    'callwatch_participant_minutes_total{media="audio"}': 5,
    'callwatch_calls_total{status="ended"}': 3,
    callwatch_calls_recorded_total: 1,
    'callwatch_invited_total{outcome="absent"}': 4,
  })
})
