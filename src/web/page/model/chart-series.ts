import { capital } from '../../../text/format.ts'
import type { CallSeries, PastAlert, PerMinute, Point, Target } from './api.ts'
import type { Chart, Period, Series, Threshold } from './chart.ts'
import { isoOf, named } from './format.ts'
import { countOf, OUTCOMES, rulesOfCalls, STATUSES, sum } from './totals.ts'

/** What the charts show of an alert. */
export type Episode = Pick<PastAlert, 'target' | 'alert' | 'key' | 'severity' | 'labels' | 'since' | 'until'>

type Sums = CallSeries['total']
type Line = readonly [name: string, colour: string, shape: Series['shape'], of: (sums: Sums) => number | null]

type Drawing = Pick<Chart, 'id' | 'title' | 'unit'> & {
  /** What is drawn of all calls. */
  lines: Line[]
  /** What is drawn of each group of calls: the sum of bars, or the first line. */
  ofGroup: Line[3]
}

function drawingsOf(media: 'minutes' | 'participant_minutes'): Drawing[] {
  const percentiles = (of: 'duration_seconds' | 'answer_delay_seconds'): Pick<Drawing, 'lines' | 'ofGroup'> => ({
    lines: [
      ['p50', 'first', 'line', (sums) => sums[of].p50],
      ['p95', 'second', 'thin', (sums) => sums[of].p95],
    ],
    ofGroup: (sums) => sums[of].p50,
  })
  const ratio = (name: string, of: Line[3]): Pick<Drawing, 'unit' | 'lines' | 'ofGroup'> => {
    return { unit: 'ratio', lines: [[name, 'first', 'line', of]], ofGroup: of }
  }
  const outcomes = OUTCOMES.map((status): Line => [status, status, 'bar', ({ calls }) => calls[status]])
  const minutes: Line[] = [
    ['audio', 'first', 'bar', (sums) => sums[media].audio],
    ['video', 'second', 'bar', (sums) => sums[media].video],
  ]
  const minutesOf = (sums: Sums) => sums[media].audio + sums[media].video
  return [
    { id: 'calls', title: 'Calls by outcome', unit: 'calls', lines: outcomes, ofGroup: countOf },
    { id: 'failure-ratio', title: 'Failure ratio', ...ratio('ratio', (sums) => sums.failure_ratio) },
    { id: 'not-joined', title: 'Invited who did not join', ...ratio('share', (sums) => sums.not_joined_ratio) },
    { id: 'minutes', title: capital(media.replace('_', ' ')), unit: 'number', lines: minutes, ofGroup: minutesOf },
    { id: 'duration', title: 'Duration', unit: 'seconds', ...percentiles('duration_seconds') },
    { id: 'answer-delay', title: 'Answer delay', unit: 'seconds', ...percentiles('answer_delay_seconds') },
  ]
}

/** The colours of groups; the last one is that of the others. */
const COLOURS = ['ended', 'unanswered', 'canceled', 'first', 'second', 'lost', 'rejected', 'other']

/** The charts of a period. */
export function chartsOf(options: {
  series: CallSeries
  /** The selected ones. */
  targets: readonly Pick<Target, 'name' | 'rules'>[]
  query: URLSearchParams
  /** UNIX seconds. */
  now: number
}): Chart[] {
  const { series, targets, query, now } = options
  const step = series.step_seconds
  const times = series.points.map(({ at }) => Date.parse(at) / 1000)
  const names = targets.map(({ name }) => name)
  const missing = series.points.map((point) => isMissing(point, series, names))
  const form = {
    times,
    step,
    complete: times.filter((at) => at + step <= now).length,
    blind: periodsOf(series.coverage.blind),
  }
  const valuesOf = (points: readonly Point[], of: (point: Point) => number | null) =>
    points.map((point, i) => (missing[i] ? null : of(point)))
  const parts = (series.groups ?? []).map(({ name, ...of }, i) => {
    return { name: name ?? 'others', colour: name === null ? 'other' : COLOURS[i]!, ...of }
  })
  const drawn = drawingsOf(query.get('minutes') === 'participant' ? 'participant_minutes' : 'minutes')
  const charts = drawn.map(({ id, title, unit, lines, ofGroup }): Chart => {
    const shape = lines[0]![2]
    const all = lines.map(([name, colour, shape, of]): Series => {
      return { name, colour, shape, values: valuesOf(series.points, of), whole: of(series.total) }
    })
    const split = parts.map(({ name, colour, points, total }): Series => {
      return { name, colour, shape, values: valuesOf(points, ofGroup), whole: ofGroup(total) }
    })
    const isSplit = parts.length > 0
    return {
      ...form,
      id: `chart-${id}`,
      title: isSplit ? (SPLIT_TITLES[id] ?? title) : title,
      unit,
      series: isSplit ? split : all,
      ...(id === 'failure-ratio' && { thresholds: thresholdsOf(targets, query) }),
    }
  })
  const open = (points: readonly Point[]) => valuesOf(points, (point) => point.in_progress)
  const lines = parts.length > 0 ? parts : [{ name: 'calls', colour: 'first', points: series.points }]
  const inProgress = lines.map(({ name, colour, points }): Series => {
    return { name, colour, shape: 'line', values: open(points), whole: meanOf(open(points)) }
  })
  const progress: Chart = {
    ...form,
    id: 'chart-in-progress',
    title: 'Calls in progress',
    unit: 'calls',
    isInstant: true,
    series: inProgress,
  }
  return charts.toSpliced(4, 0, progress)
}

/** What charts of groups show a part of. */
const SPLIT_TITLES: Readonly<Record<string, string>> = {
  calls: 'Finished calls',
  duration: 'Duration, p50',
  'answer-delay': 'Answer delay, p50',
}

/** Null where no value is known. */
function meanOf(values: readonly (number | null)[]) {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : sum(known, (value) => value) / known.length
}

/** The finished calls of each minute. @param unpolledSince since when some targets have not been polled */
export function perMinuteChart(perMinute: PerMinute, target: string, unpolledSince?: string): Chart {
  const { since, step_seconds: step, targets } = perMinute
  const shown = targets.filter(({ name }) => target === '' || name === target)
  const from = Date.parse(since) / 1000
  const times = (shown[0]?.ended ?? []).map((_, i) => from + i * step)
  // Otherwise no poll has reached the minute.
  const isKnown = (i: number) => shown.some(({ ended }) => ended[i] !== null)
  return {
    id: 'per-minute',
    title: 'Finished calls per minute',
    times,
    step,
    // The minute of the last poll is incomplete.
    complete: times.findLastIndex((_, i) => isKnown(i)),
    unit: 'calls',
    series: STATUSES.map((status) => {
      const values = times.map((_, i) => (isKnown(i) ? sum(shown, (one) => one[status][i] ?? 0) : null))
      const whole = times.some((_, i) => isKnown(i)) ? sum(values, (value) => value ?? 0) : null
      return { name: status, colour: status, shape: 'bar', values, whole }
    }),
    blind: periodsOf(blindOf(perMinute, target, unpolledSince)),
  }
}

/** The times of the minutes that are not covered, up to the last one where some targets have not been polled since a time. */
export function blindOf({ targets, since, step_seconds: step }: PerMinute, target: string, unpolledSince?: string) {
  const blind = targets.flatMap(({ name, blind = [] }) => (target === '' || name === target ? blind : []))
  const minutes = targets[0]?.ended.length ?? 0
  if (unpolledSince === undefined || minutes === 0) return blind
  const until = isoOf(Date.parse(since) / 1000 + step * minutes)
  return [...blind, { since: unpolledSince, until }]
}

/** Whether nothing is known of a step: no target was seen, and no call was noticed later. */
export function isMissing(point: Point, { step_seconds: step, coverage }: CallSeries, targets: readonly string[]) {
  const from = Date.parse(point.at)
  return countOf(point) === 0 && isUnseen(coverage, from, from + step * 1000, targets)
}

/**
 * Whether no target was seen in a time, nor has anything of it been noticed later.
 *
 * @param from milliseconds since 1970
 * @param to milliseconds since 1970
 */
export function isUnseen({ blind }: CallSeries['coverage'], from: number, to: number, targets: readonly string[]) {
  const isIn = ({ since, until }: { since: string; until: string }) =>
    Date.parse(since) <= from && to <= Date.parse(until)
  const missing = new Set(blind.filter((one) => one.kind !== 'ended' && isIn(one)).map(({ target }) => target))
  return targets.length > 0 && targets.every((name) => missing.has(name))
}

/** The thresholds of the rules on all failures of the same calls. */
export const thresholdsOf = (...calls: Parameters<typeof rulesOfCalls>): Threshold[] =>
  rulesOfCalls(...calls)
    .filter(({ reason }) => reason === 'any')
    .map(({ name, breach, threshold, severity }) => ({ name, about: breach, value: threshold, severity }))

/** The times of a coverage as a chart has them. */
export const periodsOf = (times: readonly { since: string; until: string }[]): Period[] =>
  times.map(({ since, until }) => ({ from: Date.parse(since) / 1000, to: Date.parse(until) / 1000 }))

/**
 * What happened at a time, in words.
 *
 * @param from UNIX seconds
 * @param to UNIX seconds
 */
export function eventsOf(
  { episodes, coverage, asOf }: { episodes: readonly Episode[]; coverage: CallSeries['coverage']; asOf: string },
  from: number,
  to: number,
) {
  const isThen = ({ since, until }: { since: string; until: string | null }) =>
    Date.parse(since) < to * 1000 && Date.parse(until ?? asOf) > from * 1000
  const alerts = episodes.filter(isThen).map(({ alert, severity, target, labels }) => {
    return { severity, text: `${alert} (${named({ target, labels })})` }
  })
  const unseen = [...new Set(coverage.blind.filter(isThen).map(({ target }) => target))]
  return { alerts, unseen }
}
