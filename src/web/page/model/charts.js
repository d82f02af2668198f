import { addressOf, changedAddress } from './address.js'
import { getPastAlerts, getSeries } from './api.js'
import { bandsOf, chartsOf, missingTimes, WEEK } from './chart-series.js'
import { momentInZone } from './format.js'
import { parameterTime } from './period.js'
import { serverTime } from './server-time.js'
import { change, current } from './state.js'

/** @import { CallSeries, Episode } from './api.js' */
/** @import { Bands, Chart } from './chart.js' */
/** @import { Charts } from './state.js' */

/**
 * What the view shows. Times are UNIX seconds.
 *
 * @typedef {object} ShownCharts
 * @property {number} since
 * @property {number} until
 * @property {Chart[]} charts
 * @property {Bands} bands
 * @property {Episode[]} episodes
 * @property {boolean} isTruncated Whether there are older episodes
 * @property {CallSeries['coverage']} coverage
 * @property {CallSeries['coverage']['blind']} missing What the charts show as not covered
 * @property {string} asOf When they were requested (ISO 8601), by the clock of the server
 */

/** Without a period in the address: a day. */
export const DEFAULT_SINCE = '24h'
const REFRESH_MS = 30_000
const KINDS = /** @type {const} */ (['type', 'mode', 'receiver_type'])

/**
 * The filters of the view, as parameters of `/api/v1/series`.
 *
 * @param {URLSearchParams} query
 */
export function filtersOf(query) {
  const filters = new URLSearchParams()
  for (const target of query.getAll('target')) filters.append('target', target)
  for (const name of KINDS) {
    const value = query.get(name) ?? ''
    if (value !== '') filters.set(name, value)
  }
  return filters
}

/**
 * The parameters of `/api/v1/series` for the parameters of the view.
 *
 * @param {URLSearchParams} query
 * @param {number} now milliseconds since 1970
 * @throws {RangeError} where the period is none
 */
export function chartsRequest(query, now) {
  const named = new URLSearchParams(query)
  if ((query.get('since') ?? '') === '') named.set('since', DEFAULT_SINCE)
  const [since = 0, until] = [parameterTime(named, 'since', now), parameterTime(named, 'until', now)]
  if (since >= (until ?? now)) throw new RangeError('“From” is not before “Before”')
  const request = filtersOf(query)
  request.set('since', new Date(since).toISOString())
  if (until !== undefined) request.set('until', new Date(until).toISOString())
  return request.toString()
}

/**
 * The request of the same steps a week earlier.
 *
 * @param {Pick<CallSeries, 'since' | 'until' | 'step_seconds'>} series
 * @param {URLSearchParams} filters
 */
export function earlierRequest({ since, until, step_seconds: step }, filters) {
  const request = new URLSearchParams(filters)
  for (const [name, time] of Object.entries({ since, until })) request.set(name, iso(Date.parse(time) / 1000 - WEEK))
  request.set('step', String(step))
  return request.toString()
}

let running = new AbortController()
/** @type {{ request: string, answer: CallSeries } | undefined} The series of last week do not change while the page shows them. */
let earlier

/** Loads the charts that the address names. Until they are there, those before them stay. */
export async function loadCharts() {
  stopCharts()
  running = new AbortController()
  const { signal } = running
  const { query, charts } = current()
  const [now, filters] = [serverTime(), filtersOf(query)]
  set({ isLoading: true })
  try {
    const series = await getSeries(chartsRequest(query, now), signal)
    const { since, until } = series
    const request = earlierRequest(series, filters)
    const period = new URLSearchParams({ since, until })
    for (const target of query.getAll('target')) period.append('target', target)
    const [answer, { alerts, truncated = false }] = await Promise.all([
      earlier?.request === request ? earlier.answer : getSeries(request, signal).catch(messageOf),
      getPastAlerts(period.toString(), signal),
    ])
    if (signal.aborted) return
    const past = typeof answer === 'string' ? undefined : answer
    earlier = past && { request, answer: past }
    const targets = shownTargets(query)
    const missing = missingTimes(series, targets.length)
    const shown = {
      since: Date.parse(since) / 1000,
      until: Date.parse(until) / 1000,
      charts: chartsOf({ series, earlier: past, targets, query, now: now / 1000 }),
      bands: bandsOf(missing, alerts, now / 1000),
      episodes: alerts,
      isTruncated: truncated,
      coverage: series.coverage,
      missing,
      asOf: new Date(now).toISOString(),
    }
    const problem = typeof answer === 'string' ? `Last week could not be loaded: ${answer}.` : undefined
    set({ shown, problem })
  } catch (error) {
    if (signal.aborted) return
    // Charts of other filters would not be what the view says.
    const shown = charts.filters === filters.toString() ? charts.shown : undefined
    const nowIso = new Date(now).toISOString()
    const kept = shown === undefined ? '' : ` Those of ${momentInZone(shown.asOf, nowIso)} are shown.`
    set({ shown, problem: `The charts could not be loaded: ${messageOf(error)}.${kept}` })
  }
  set({ filters: filters.toString(), isLoading: false, loadedAt: performance.now() })
}

/** Ends the requests of the charts. */
export function stopCharts() {
  running.abort()
  if (current().charts.isLoading) set({ isLoading: false })
}

/**
 * Loads charts that last until now again, while they are visible.
 *
 * @param {number} at by `performance.now()`
 */
export function refreshCharts(at) {
  const { view, query, charts, snapshot } = current()
  if (view !== 'charts' || snapshot === undefined || charts.isLoading || document.hidden) return
  const isLive = (query.get('until') ?? '') === '' || (charts.shown?.until ?? 0) * 1000 > serverTime()
  if (!isLive) return
  if (at - charts.loadedAt >= REFRESH_MS) void loadCharts()
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error))

/** @param {Partial<Charts>} changed */
const set = (changed) => change({ charts: { ...current().charts, ...changed } })

/** @param {URLSearchParams} query */
function shownTargets(query) {
  const wanted = query.getAll('target').flatMap((names) => names.split(','))
  return (current().snapshot?.status.targets ?? []).filter(({ name }) => wanted.length === 0 || wanted.includes(name))
}

/**
 * The address of the calls that finished in a time, with the filters of the view.
 *
 * @param {URLSearchParams} query
 * @param {number} from UNIX seconds
 * @param {number} to UNIX seconds
 */
export function callsAddress(query, from, to) {
  const kinds = Object.fromEntries(KINDS.map((name) => [name, query.get(name) ?? '']))
  return addressOf('calls', { target: query.getAll('target'), ...kinds, since: iso(from), until: iso(to) })
}

/**
 * The address of the charts of a period.
 *
 * @param {number} from UNIX seconds
 * @param {number} to UNIX seconds
 */
export const zoomAddress = (from, to) => changedAddress({ since: iso(from), until: iso(to) })

/**
 * Twice the period of the charts, which does not last longer than until now.
 *
 * @param {{ since: number, until: number }} shown UNIX seconds
 * @param {number} now UNIX seconds
 * @returns {[from: number, to: number]}
 */
export function widerPeriod({ since, until }, now) {
  const length = until - since
  const end = Math.min(until + length / 2, Math.max(until, now))
  return [end - 2 * length, end]
}

/** @param {number} time UNIX seconds */
const iso = (time) => new Date(time * 1000).toISOString().replace('.000Z', 'Z')
