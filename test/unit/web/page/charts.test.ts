import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { SeriesPoint } from '../../../../src/views/series.ts'
import type { CallSeries, Rule } from '../../../../src/web/page/model/api.ts'
import {
  drawnData,
  legendStep,
  legendText,
  shownStep,
  stepAt,
  UNITS,
  valueText,
  type Chart,
} from '../../../../src/web/page/model/chart.ts'
import {
  blindOf,
  chartsOf,
  eventsOf,
  periodsOf,
  perMinuteChart,
  thresholdsOf,
} from '../../../../src/web/page/model/chart-series.ts'
import { callsAddress, chartsRequest, incidentPeriod, widerPeriod } from '../../../../src/web/page/model/charts.ts'
import { chooseZone, span, weekBefore } from '../../../../src/web/page/model/format.ts'
import { isoTime } from '../../../../src/clock/times.ts'
import { RATIO } from '../../../kit/alerts/sample-rules.ts'
import { NOW, POLLED, RATIO_RULE } from '../../../kit/metrics/hand-made-target.ts'
import { targetView } from '../../../../src/views/state/target.ts'
import { stepText } from '../../../../src/web/page/components/chart.tsx'
import { shownTarget } from '../../../kit/web/serve.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

const HOUR = 3600
/** 14:00, and an hour that ends after now, which is 14:13:20. */
const LAST = NOW - 800

const point = (at: number, differing: Partial<SeriesPoint> = {}): SeriesPoint => ({
  at: isoTime(at),
  calls: { ended: 6, unanswered: 2, rejected: 1, canceled: 0, other: 0, lost: 1 },
  minutes: { audio: 10, video: 4 },
  participant_minutes: { audio: 20, video: 8 },
  user_minutes: 30,
  failure_ratio: 0.25,
  invited: { joined: 12, absent: 8, unknown: 1 },
  not_joined_ratio: 0.4,
  duration_seconds: { mean: 90, p50: 60, p95: 300 },
  answer_delay_seconds: { p50: 5, p95: null },
  in_progress: 7,
  ...differing,
})
/** Of three points, whose ratios and percentiles do not add up to it. */
const TOTAL: CallSeries['total'] = {
  ...point(0),
  calls: { ended: 18, unanswered: 6, rejected: 3, canceled: 0, other: 0, lost: 3 },
  minutes: { audio: 30, video: 12 },
  failure_ratio: 0.33,
  duration_seconds: { mean: 90, p50: 61, p95: 301 },
}
const NONE = { ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, lost: 0 }

const seriesFrom = (from: number, points: SeriesPoint[], blind: CallSeries['coverage']['blind'] = []): CallSeries => ({
  since: isoTime(from),
  until: isoTime(from + points.length * HOUR),
  step_seconds: HOUR,
  points,
  total: TOTAL,
  coverage: { blind_seconds: 0, blind },
})
/** Three hours until after now. */
const three = (differing: Partial<SeriesPoint> = {}, from = LAST - 2 * HOUR) =>
  [0, 1, 2].map((i) => point(from + i * HOUR, differing))

const target = (name: string, rules: Rule[] = []) => ({
  ...targetView(shownTarget({ target: name, sync: POLLED })),
  rules,
})

function charts(given: Partial<Parameters<typeof chartsOf>[0]> = {}): Record<string, Chart | undefined> {
  const all = chartsOf({
    series: seriesFrom(LAST - 2 * HOUR, three()),
    targets: [target('production')],
    query: new URLSearchParams(),
    now: NOW,
    ...given,
  })
  return Object.fromEntries(all.map((chart) => [chart.id.replace('chart-', ''), chart]))
}
const values = (chart: Chart | undefined) =>
  Object.fromEntries(chart?.series.map(({ name, values }) => [name, [...values]]) ?? [])

test('a chart has the share of the invited people who did not join, without the thresholds of the failure ratio', () => {
  const { rules } = targetView(shownTarget({ rules: [RATIO_RULE], sync: POLLED }))
  const { 'not-joined': chart, 'failure-ratio': failed } = charts({ targets: [target('production', rules)] })
  expect(values(chart)).toEqual({ share: [0.4, 0.4, 0.4] })
  expect([failed?.thresholds?.length, chart?.thresholds]).toEqual([1, undefined])
})

describe('the request of the charts', () => {
  const requestOf = (query: string) =>
    Object.fromEntries(new URLSearchParams(chartsRequest(new URLSearchParams(query), NOW * 1000)))

  test.each([
    ['', { since: '24h' }],
    ['since=7d&minutes=participant&zone=UTC', { since: '7d' }],
    [
      'since=2026-09-20&until=2026-09-21T08:00Z&type=audio&mode=call&receiver_type=user&target=a',
      {
        since: '2026-09-20T00:00:00.000Z',
        until: '2026-09-21T08:00:00.000Z',
        type: 'audio',
        mode: 'call',
        receiver_type: 'user',
        target: 'a',
      },
    ],
  ])('of the address ?%s', (query, expected) => {
    expect(requestOf(query)).toEqual(expected)
  })

  test('has the shortest period with the beginning of the worst incident', () => {
    const of = (...ago: number[]) =>
      incidentPeriod(
        ago.map((one) => ({ since: isoTime(NOW - one) })),
        NOW * 1000,
      )
    expect([of(), of(600, 9000), of(9000), of(2 * 86_400), of(9e6)]).toEqual(['', '1h', '24h', '7d', ''])
  })

  test.each(['since=1h&until=2h', 'since=2027-01-01'])('is refused without a period: %s', (query) => {
    expect(() => requestOf(query)).toThrow('“From” is not before “Before”')
  })
})

test('last week is by the clock of the zone, also across a change of the clocks, by whole steps', () => {
  onTestFinished(() => chooseZone(''))
  chooseZone('Europe/Berlin')
  const at = (time: string) => Date.parse(time) / 1000
  const before = (time: string, step?: number) => isoTime(weekBefore(at(time), step))
  expect(before('2026-10-26T05:50:00Z')).toBe(isoTime(at('2026-10-19T04:50:00Z')))
  expect(before('2026-10-26T06:00:00Z', 10_800)).toBe(isoTime(at('2026-10-19T06:00:00Z')))
  expect(before('2026-03-30T16:00:00Z', 3600)).toBe(isoTime(at('2026-03-23T17:00:00Z')))
})

describe('the charts', () => {
  test('have an axis for any number, whose texts are short', () => {
    const { incrs, onAxis } = UNITS.number
    // As many as fit are below each other: without a distance, an axis has none.
    for (const most of [5, 4_000_000, 3_000_000_000]) expect(incrs.some((step) => most / step <= 6)).toBe(true)
    expect([50_000, 999_999, 1_500_000, 20_000_000].map(onAxis)).toEqual(['50,000', '999,999', '1.5M', '20M'])
    expect(UNITS.calls.format(1_500_000)).toBe('1,500,000')
  })

  test('have the numbers of the series', () => {
    const { calls, minutes, 'failure-ratio': ratio, duration, 'answer-delay': delay, 'in-progress': open } = charts()
    expect(calls?.times).toEqual([LAST - 2 * HOUR, LAST - HOUR, LAST])
    // The last hour is not over.
    expect(calls?.complete).toBe(2)
    expect(values(calls)).toEqual({
      ended: [6, 6, 6],
      unanswered: [2, 2, 2],
      rejected: [1, 1, 1],
      canceled: [0, 0, 0],
      other: [0, 0, 0],
      lost: [1, 1, 1],
    })
    expect(values(minutes)).toEqual({ audio: [10, 10, 10], video: [4, 4, 4] })
    expect(values(charts({ query: new URLSearchParams('minutes=participant') })['minutes'])).toEqual({
      audio: [20, 20, 20],
      video: [8, 8, 8],
    })
    expect(values(ratio)).toEqual({ ratio: [0.25, 0.25, 0.25] })
    expect(values(duration)).toEqual({ p50: [60, 60, 60], p95: [300, 300, 300] })
    expect(values(delay)).toEqual({ p50: [5, 5, 5], p95: [null, null, null] })
    expect(values(open)).toEqual({ calls: [7, 7, 7] })
    expect([ratio, calls, minutes, duration].map((chart) => chart && valueText(chart, 0.25))).toEqual([
      '25%',
      '0',
      '0.3',
      '0s',
    ])
  })

  test('have the total, the ratio or the mean of the whole period, which legends show without a cursor', () => {
    const points = [4, 8, 9].map((open, i) => point(LAST - (2 - i) * HOUR, { in_progress: open }))
    const {
      calls,
      'failure-ratio': ratio,
      duration,
      'in-progress': open,
    } = charts({ series: seriesFrom(LAST - 2 * HOUR, points) })
    const wholes = [calls!, ratio!, duration!, open!].map((chart) => chart.series.map(({ whole }) => whole))
    expect(wholes).toEqual([[18, 6, 3, 0, 0, 3], [0.33], [61, 301], [7]])
    const at = (hovered?: number, selected?: number) => legendStep(calls!, { hovered, selected })
    expect([at(), at(LAST), at(undefined, LAST - HOUR)]).toEqual([undefined, 2, 1])
    expect([calls!, open!].map((chart) => stepText(chart, undefined, isoTime(NOW)))).toEqual([
      '12:00–15:00 UTC, so far, in all',
      '12:00–15:00 UTC, so far',
    ])
    expect([undefined, 0].map((index) => legendText(open!, open!.series.at(0)!, index))).toEqual(['mean 7', '4'])
    expect(legendText(calls!, calls!.series.at(0)!, undefined)).toBe('18')
  })

  test('show each target, and the others together, where they are split', () => {
    const ofGroup = (name: string | null, ended: number) => {
      const calls = { ...NONE, ended, rejected: 1 }
      return {
        name,
        points: three({ calls, in_progress: ended }),
        total: { ...TOTAL, calls, failure_ratio: 1 / (ended + 1) },
      }
    }
    const series = { ...seriesFrom(LAST - 2 * HOUR, three()), groups: [ofGroup('shop', 3), ofGroup(null, 1)] }
    const { calls, 'failure-ratio': ratio, duration, 'in-progress': open } = charts({ series })
    const said = (chart?: Chart) =>
      chart!.series.map(({ name, shape, colour, values, whole }) => [name, shape, colour, values[0], whole])
    expect(said(calls)).toEqual([
      ['shop', 'bar', 'ended', 4, 4],
      ['others', 'bar', 'other', 2, 2],
    ])
    expect(said(ratio).map(([, shape, , , whole]) => [shape, whole])).toEqual([
      ['line', 0.25],
      ['line', 0.5],
    ])
    expect(said(open).map(([name, shape, , value]) => [name, shape, value])).toEqual([
      ['shop', 'line', 3],
      ['others', 'line', 1],
    ])
    expect([calls!, duration!].map((chart) => chart.title)).toEqual(['Finished calls', 'Duration, p50'])
    expect(chartsRequest(new URLSearchParams('by=target'), NOW * 1000)).toBe('since=24h&by=target')
  })

  test('know nothing of a time in which no target was seen, but of one that was polled again', () => {
    const blind = (kind: 'before' | 'ended' | 'now', name = 'production') => ({
      target: name,
      kind,
      since: isoTime(LAST - 2 * HOUR),
      until: isoTime(LAST - HOUR + 60),
    })
    const ended = (gaps: CallSeries['coverage']['blind'], differing: Partial<SeriesPoint>, names = ['production']) => {
      const series = seriesFrom(LAST - 2 * HOUR, three(differing), gaps)
      return values(charts({ series, targets: names.map((name) => target(name)) })['calls'])['ended']
    }
    expect(ended([blind('before')], { calls: NONE })).toEqual([null, 0, 0])
    expect(ended([blind('now')], { calls: NONE })).toEqual([null, 0, 0])
    expect(ended([blind('ended')], { calls: NONE })).toEqual([0, 0, 0])
    expect(ended([blind('before')], {})).toEqual([6, 6, 6])
    expect(ended([blind('before')], { calls: NONE }, ['production', 'staging'])).toEqual([0, 0, 0])
  })
})

describe('the thresholds of the failure ratio', () => {
  const { rules } = targetView(
    shownTarget({
      rules: [
        RATIO_RULE,
        { ...RATIO_RULE, name: 'Calls', match: { mode: 'call' }, severity: 'critical' },
        { ...RATIO_RULE, name: 'Each', match: { mode: 'call' }, by: ['type'] },
        { ...RATIO, name: 'Rejections', signal: { ...RATIO.signal, reason: 'rejected' } },
        // Its threshold is a difference to what is usual.
        { ...RATIO, name: 'Relative', signal: { ...RATIO.signal, relativeTo: 604_800 } },
        {
          ...RATIO_RULE,
          name: 'Budget',
          signal: { name: 'budget_minutes', of: 'participants', limit: 1000, timezone: 'UTC', cycleDay: 1 },
        },
      ],
      sync: POLLED,
    }),
  )
  const names = (query: string, targets = [{ rules }]) =>
    thresholdsOf(targets, new URLSearchParams(query)).map(({ name, about }) => `${name} ${about}`)

  test('are those of the rules on the same calls', () => {
    const shown = ['', 'mode=call', 'mode=call&type=audio', 'mode=meet'].map((query) => names(query))
    expect(shown).toEqual([['HighFailureRate above'], ['Calls above'], ['Each above'], []])
    expect(names('', [{ rules }, { rules }])).toEqual([])
  })
})

describe('a chart', () => {
  const chart: Chart = {
    id: 'chart-a',
    title: 'A',
    times: [0, 60, 120],
    step: 60,
    complete: 2,
    unit: 'calls',
    series: [
      { name: 'a', colour: 'first', shape: 'bar', values: [1, null, 3] },
      { name: 'b', colour: 'second', shape: 'bar', values: [10, null, 30] },
      { name: 'c', colour: 'first', shape: 'line', values: [5, 6, 7] },
      { name: 'compared with', colour: 'text', shape: 'dots', values: [8, 9, 10] },
    ],
    blind: [],
  }

  test('is drawn in the middle of its steps, the highest stack first, with lines until the last step that has ended', () => {
    expect(drawnData(chart)).toEqual([
      [30, 90, 150],
      [11, null, 33],
      [1, null, 3],
      [5, 6, null],
      [8, 9, 10],
    ])
    expect(drawnData({ ...chart, isInstant: true, series: chart.series.slice(2, 3) })).toEqual([
      [0, 60, 120],
      [5, 6, 7],
    ])
  })

  test('has the step of a time', () => {
    expect([-1, 0, 59, 60, 179, 180, undefined].map((time) => stepAt(chart, time))).toEqual([
      undefined,
      0,
      0,
      1,
      2,
      undefined,
      undefined,
    ])
  })

  test('shows the step under the pointer, otherwise the selected one, otherwise the last one that has ended', () => {
    const shown = (hovered?: number, selected?: number) => shownStep(chart, { hovered, selected })
    expect([shown(), shown(120), shown(undefined, 0), shown(120, 0), shown(999, 0)]).toEqual([1, 2, 0, 2, 0])
    expect(shownStep({ ...chart, complete: 0 }, { hovered: undefined, selected: undefined })).toBe(0)
  })
})

describe('what happened at a time', () => {
  const episode = {
    target: 'production',
    alert: 'High',
    key: '',
    severity: 'warning' as const,
    labels: { mode: 'call' },
  }
  const episodes = [
    { ...episode, since: isoTime(NOW - 1000), until: isoTime(NOW - 500) },
    { ...episode, alert: 'Now', labels: {}, severity: 'critical' as const, since: isoTime(NOW - 100), until: null },
  ]
  const gap = { target: 'staging', kind: 'ended' as const, since: isoTime(NOW - 1000), until: isoTime(NOW - 900) }
  const coverage = { blind_seconds: 100, blind: [gap, { ...gap, since: isoTime(NOW - 950) }] }

  test('are its alerts and the targets that were not seen', () => {
    const at = (from: number, to: number) => eventsOf({ episodes, coverage, asOf: isoTime(NOW) }, NOW + from, NOW + to)
    expect(at(-960, -940)).toEqual({
      alerts: [{ severity: 'warning', text: 'High (production, mode=call)' }],
      unseen: ['staging'],
    })
    expect(at(-500, -400)).toEqual({ alerts: [], unseen: [] })
    expect(at(-60, 0)).toEqual({ alerts: [{ severity: 'critical', text: 'Now (production)' }], unseen: [] })
  })

  test('is hatched in the charts, where a target was not seen', () => {
    expect(periodsOf(coverage.blind)[0]).toEqual({ from: NOW - 1000, to: NOW - 900 })
  })
})

describe('the charts lead', () => {
  test('to the calls of a time, with the filters', () => {
    const query = new URLSearchParams('target=a&target=b&type=audio&mode=meet&since=7d&minutes=participant')
    expect(decodeURIComponent(callsAddress(query, NOW - 20, NOW + 40))).toBe(
      './?target=a&target=b&type=audio&mode=meet&since=2026-09-21T14:13:00Z&until=2026-09-21T14:14:00Z#calls',
    )
  })

  test.each([
    ['around its middle', NOW - 1000, NOW - 800, [NOW - 1100, NOW - 700]],
    ['that does not last longer than until now', NOW - 250, NOW - 50, [NOW - 400, NOW]],
    ['that lasts until now', NOW - 200, NOW + 10, [NOW - 410, NOW + 10]],
  ])('to twice the period, %s', (_how, since, until, expected) => {
    expect(widerPeriod({ since: isoTime(since), until: isoTime(until) }, NOW)).toEqual(expected)
  })
})

test.each([
  ['2026-09-21T14:00:00Z', '2026-09-21T15:00:00Z', '14:00–15:00 UTC'],
  ['2026-09-21T14:00:00Z', '2026-09-21T14:00:00Z', '14:00 UTC'],
  ['2026-09-20T23:00:00Z', '2026-09-21T00:00:00Z', '2026-09-20 23:00–00:00 UTC'],
  ['2026-09-20T00:00:00Z', '2026-09-21T00:00:00Z', '2026-09-20 00:00–2026-09-21 00:00 UTC'],
])('the time from %s until %s is %s', (since, until, expected) => {
  expect(span(since, until, isoTime(NOW))).toBe(expected)
})

test('the chart of the last hour marks what is not covered of the targets that it shows', () => {
  const blind = [{ since: isoTime(NOW - 300), until: isoTime(NOW - 60) }]
  const counts = { ended: [0], unanswered: [0], rejected: [0], canceled: [0], other: [0] }
  const targets = [
    { name: 'a', ...counts, blind },
    { name: 'b', ...counts },
  ]
  const perMinute = { since: isoTime(NOW - 3600), step_seconds: 60, targets }
  expect(['', 'a', 'b'].map((target) => blindOf(perMinute, target))).toEqual([blind, blind, []])
  const unpolled = { since: isoTime(NOW - 3590), until: isoTime(NOW - 3540).replace('.000Z', 'Z') }
  expect(blindOf(perMinute, 'b', unpolled.since)).toEqual([unpolled])
  const { series } = perMinuteChart({ ...perMinute, targets: [{ name: 'a', ...counts, ended: [2, 3] }] }, '')
  expect(series.map(({ whole }) => whole)).toEqual([5, 0, 0, 0, 0])
  const unknown = perMinuteChart({ ...perMinute, targets: [{ name: 'a', ...counts, ended: [null] }] }, '')
  expect(unknown.series.map(({ whole }) => whole)).toEqual([null, null, null, null, null])
  // The store cannot be read.
  expect(blindOf({ since: '', step_seconds: 60, targets: [] }, '', unpolled.since)).toEqual([])
})

test('a step of a chart is named by its time, and whether it is complete and covered', () => {
  const times = [NOW - 180, NOW - 120, NOW - 60]
  const chart = { id: '', title: '', times, step: 60, complete: 2, unit: 'calls' as const, series: [] }
  const textsWith = (from: number, isInstant = false) => {
    const blind = periodsOf([{ since: isoTime(NOW - from), until: isoTime(NOW - 120) }])
    return [0, 1, 2].map((index) => stepText({ ...chart, isInstant, blind }, index, isoTime(NOW)))
  }
  expect(textsWith(180)).toEqual(['14:10 UTC, not covered', '14:11 UTC', '14:12 UTC, so far'])
  expect(textsWith(150)[0]).toBe('14:10 UTC, not all covered')
  expect([textsWith(150, true)[0], textsWith(180, true)[0]]).toEqual(['14:10 UTC', '14:10 UTC, not covered'])
})
