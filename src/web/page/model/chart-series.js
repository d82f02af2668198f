import { labelText } from './format.js'
import { STATUSES } from './totals.js'

/** @import { CallSeries, Episode, Point, Target } from './api.js' */
/** @import { Bands, Chart, Series, Threshold } from './chart.js' */
/** @import { ShownCharts } from './charts.js' */

/** Seconds. */
export const WEEK = 7 * 86_400
const OUTCOMES = /** @type {const} */ ([...STATUSES, 'lost'])

/**
 * The charts of a period.
 *
 * @param {object} given
 * @param {CallSeries} given.series
 * @param {CallSeries | undefined} given.earlier the same steps a week earlier
 * @param {readonly Pick<Target, 'name' | 'rules'>[]} given.targets the selected ones
 * @param {URLSearchParams} given.query
 * @param {number} given.now UNIX seconds
 * @returns {Chart[]}
 */
export function chartsOf({ series, earlier, targets, query, now }) {
  const step = series.step_seconds
  const times = series.points.map(({ at }) => Date.parse(at) / 1000)
  const names = targets.map(({ name }) => name)
  const points = series.points.map((point) => (isMissing(point, series, names) ? undefined : point))
  const byTime = new Map(earlier?.points.map((point) => [Date.parse(point.at) / 1000 + WEEK, point]))
  const past = times.map((at) => {
    const point = byTime.get(at)
    return point === undefined || earlier === undefined || isMissing(point, earlier, names) ? undefined : point
  })
  const hasPast = past.some((point) => point !== undefined && (callsOf(point) > 0 || (point.in_progress ?? 0) > 0))

  /** @typedef {(point: Point) => number | null} Of */
  const line = (
    /** @type {string} */ name,
    /** @type {string} */ colour,
    /** @type {Series['shape']} */ shape,
    /** @type {Of} */ of,
    among = points,
  ) => ({
    name,
    colour,
    shape,
    values: among.map((point) => (point === undefined ? null : of(point))),
  })
  const lastWeek = (/** @type {Of} */ of, colour = 'any', name = '') => {
    const one = line(`${name}last week`, colour, 'dots', of, past)
    return hasPast && one.values.some((value) => value !== null) ? [one] : []
  }
  const percentiles = (/** @type {'duration_seconds' | 'answer_delay_seconds'} */ name) => {
    const p50 = (/** @type {Point} */ point) => point[name].p50
    const p95 = (/** @type {Point} */ point) => point[name].p95
    return [
      line('p50', 'first', 'line', p50),
      line('p95', 'second', 'thin', p95),
      ...lastWeek(p50, 'first', 'p50 '),
      ...lastWeek(p95, 'second', 'p95 '),
    ]
  }
  const media = query.get('minutes') === 'participant' ? 'participant_minutes' : 'minutes'
  const about = (/** @type {string} */ what) => `Chart of ${what} over time`
  const common = { times, step, complete: times.filter((at) => at + step <= now).length }
  return [
    {
      ...common,
      id: 'chart-calls',
      title: 'Calls by outcome',
      about: about('the finished calls by outcome'),
      unit: 'calls',
      series: [
        ...OUTCOMES.map((status) => line(status, status, 'bar', ({ calls }) => calls[status])),
        ...lastWeek(callsOf),
      ],
    },
    {
      ...common,
      id: 'chart-failure-ratio',
      title: 'Failure ratio',
      about: about('the failure ratio, with the thresholds of rules,'),
      unit: 'ratio',
      series: [
        line('ratio', 'first', 'line', (point) => point.failure_ratio),
        ...lastWeek((point) => point.failure_ratio),
      ],
      thresholds: thresholdsOf(targets, query),
    },
    {
      ...common,
      id: 'chart-minutes',
      title: media === 'minutes' ? 'Minutes' : 'Participant minutes',
      about: about(media === 'minutes' ? 'the minutes of calls by media' : 'the participant minutes by media'),
      unit: 'minutes',
      series: [
        line('audio', 'first', 'bar', (point) => point[media].audio),
        line('video', 'second', 'bar', (point) => point[media].video),
        ...lastWeek((point) => point[media].audio + point[media].video),
      ],
    },
    {
      ...common,
      id: 'chart-in-progress',
      title: 'Calls in progress',
      about: about('the calls in progress'),
      unit: 'calls',
      isInstant: true,
      series: [line('calls', 'first', 'line', (point) => point.in_progress), ...lastWeek((point) => point.in_progress)],
    },
    {
      ...common,
      id: 'chart-duration',
      title: 'Duration',
      about: about('the percentiles of the duration of calls'),
      unit: 'seconds',
      series: percentiles('duration_seconds'),
    },
    {
      ...common,
      id: 'chart-answer-delay',
      title: 'Answer delay',
      about: about('the percentiles of the answer delay'),
      unit: 'seconds',
      series: percentiles('answer_delay_seconds'),
    },
  ]
}

/** @param {Point} point */
const callsOf = ({ calls }) => OUTCOMES.reduce((sum, status) => sum + calls[status], 0)

/**
 * Whether nothing is known of a step: no target was seen, and no call was noticed later.
 *
 * @param {Point} point
 * @param {CallSeries} series
 * @param {readonly string[]} targets
 */
function isMissing(point, { step_seconds: step, coverage: { blind } }, targets) {
  if (callsOf(point) > 0) return false
  const from = Date.parse(point.at)
  const isIn = (/** @type {{ since: string, until: string }} */ { since, until }) =>
    Date.parse(since) <= from && from + step * 1000 <= Date.parse(until)
  const missing = new Set(blind.filter((one) => one.kind !== 'ended' && isIn(one)).map(({ target }) => target))
  return targets.length > 0 && targets.every((name) => missing.has(name))
}

/**
 * The thresholds of the rules on the failure ratio of all failures that may apply to the calls of the filters.
 *
 * @param {readonly Pick<Target, 'rules'>[]} targets
 * @param {URLSearchParams} query
 * @returns {Threshold[]}
 */
export function thresholdsOf(targets, query) {
  const excludes = (/** @type {[string, string]} */ [name, value]) => !['', value].includes(query.get(name) ?? '')
  const thresholds = targets
    .flatMap(({ rules }) => rules)
    .filter(
      ({ signal, reason, match }) =>
        signal === 'failure_ratio' && reason === 'any' && !Object.entries(match).some(excludes),
    )
    .map(({ name, breach, threshold, match, severity }) => {
      const about = [labelText(match), breach].filter(Boolean).join(' ')
      return /** @type {const} */ ([[name, about, threshold].join('|'), { name, about, value: threshold, severity }])
    })
  return [...new Map(thresholds).values()]
}

/**
 * The times that are not covered, without those of which the calls were counted afterwards (`poll.baseline: count`): where
 * there are calls although none of the targets was set up.
 *
 * @param {CallSeries} series
 * @param {number} targets how many are shown
 */
export function missingTimes({ points, coverage: { blind } }, targets) {
  const before = blind.filter(({ kind }) => kind === 'before')
  const first = points.find((point) => callsOf(point) > 0)?.at
  const isCounted = first !== undefined && before.length === targets && before.every(({ until }) => first < until)
  return isCounted
    ? blind.flatMap((one) => (one.kind !== 'before' ? [one] : one.since < first ? [{ ...one, until: first }] : []))
    : blind
}

/**
 * @param {CallSeries['coverage']['blind']} missing
 * @param {readonly Episode[]} episodes
 * @param {number} now UNIX seconds
 * @returns {Bands}
 */
export function bandsOf(missing, episodes, now) {
  const period = (/** @type {string} */ since, /** @type {string | null} */ until) => ({
    from: Date.parse(since) / 1000,
    to: until === null ? now : Date.parse(until) / 1000,
  })
  return {
    alerts: episodes.map(({ since, until, severity }) => ({ ...period(since, until), severity })),
    blind: missing.map(({ since, until }) => period(since, until)),
  }
}

/**
 * What the bands say of a time, in words.
 *
 * @param {Pick<ShownCharts, 'episodes' | 'missing' | 'asOf'>} shown
 * @param {number} from UNIX seconds
 * @param {number} to UNIX seconds
 */
export function eventsOf({ episodes, missing, asOf }, from, to) {
  const isThen = (/** @type {{ since: string, until: string | null }} */ { since, until }) =>
    Date.parse(since) < to * 1000 && Date.parse(until ?? asOf) > from * 1000
  const alerts = episodes.filter(isThen).map(({ alert, severity, target, labels }) => {
    const text = [target, labelText(labels)].filter(Boolean).join(', ')
    return { severity, text: `${alert} (${text})` }
  })
  const unseen = [...new Set(missing.filter(isThen).map(({ target }) => target))]
  return { alerts, unseen }
}
