import { RULE_LABELS } from '../../../alerts/groups.ts'
import { readSeconds } from '../../../history/moment.ts'
import { addressOf, changeAddress, changedAddress } from './address.ts'
import { getPastAlerts, getSeries, type AlertHistory, type CallSeries, type Incident } from './api.ts'
import type { Chart } from './chart.ts'
import { chartsOf } from './chart-series.ts'
import { isoOf } from './format.ts'
import { shownIncidents } from './alerts/incidents.ts'
import { addFilters, periodOf } from './period.ts'
import { current, load, serverTime } from './state.ts'

/** What the view shows. */
export type ShownCharts = {
  series: CallSeries
  past: AlertHistory
  charts: Chart[]
}

/** The periods that the view offers. */
export const PERIODS = [
  ['1h', 'the last hour'],
  ['24h', 'the last 24 hours'],
  ['7d', 'the last 7 days'],
  ['35d', 'the last 35 days'],
] as const
/** Without a period in the address: a day, if nothing fires. */
export const DEFAULT_SINCE = '24h'

/** The shortest one that has the beginning of the worst incident; '' if there is none. @param now milliseconds since 1970 */
export const incidentPeriod = ([worst]: readonly Pick<Incident, 'since'>[], now: number) =>
  PERIODS.find(([name]) => worst && readSeconds(name, now / 1000)! * 1000 <= Date.parse(worst.since))?.[0] ?? ''

/** Loads the charts that the address names, or names a period in which what fires can be seen. */
export async function openCharts() {
  const { query } = current()
  const incidents = shownIncidents(current()).map(({ incident }) => incident)
  const since = query.get('since') || query.get('until') ? '' : incidentPeriod(incidents, serverTime())
  if (since === '') await loadCharts()
  else changeAddress({ since })
}

const REFRESH_MS = 30_000

/** The filters of the view, as parameters of `/api/v1/series`. */
export function filtersOf(query: URLSearchParams) {
  return addFilters(new URLSearchParams(), query, RULE_LABELS)
}

/**
 * The parameters of `/api/v1/series` for the parameters of the view.
 *
 * @param now milliseconds since 1970
 * @throws {RangeError} where the period is none
 */
export function chartsRequest(query: URLSearchParams, now: number) {
  const by = query.get('by') ?? ''
  const others = { ...periodOf(query, DEFAULT_SINCE, now), ...(by !== '' && { by }) }
  return new URLSearchParams([...filtersOf(query), ...Object.entries(others)]).toString()
}

/** By `performance.now()`. */
let loadedAt = -Infinity

/** Loads the charts that the address names. */
export async function loadCharts() {
  const { query } = current()
  const [now, filters] = [serverTime(), filtersOf(query)]
  const ask = async (signal: AbortSignal): Promise<ShownCharts> => {
    const series = await getSeries(chartsRequest(query, now), signal)
    const { since, until } = series
    const period = addFilters(new URLSearchParams({ since, until }), query)
    const past = await getPastAlerts(period.toString(), signal)
    return { series, past, charts: chartsOf({ series, targets: targetsOf(query), query, now: now / 1000 }) }
  }
  await load('charts', [...filters, query.get('by')].join('|'), ask, 'The charts could not be loaded')
  loadedAt = performance.now()
}

/**
 * Loads charts that last until now again, while they are visible.
 *
 * @param at by `performance.now()`
 */
export function refreshCharts(at: number) {
  const { view, query, charts, snapshot } = current()
  if (view !== 'charts' || snapshot === undefined || charts.isLoading === true || document.hidden) return
  const isLive = (query.get('until') ?? '') === '' || Date.parse(charts.answer?.series.until ?? '') > serverTime()
  if (isLive && at - loadedAt >= REFRESH_MS) void loadCharts()
}

/** The targets of an address. */
export function targetsOf(query: URLSearchParams) {
  const names = query.getAll('target').flatMap((text) => text.split(','))
  return (current().snapshot?.targets ?? []).filter(({ name }) => names.length === 0 || names.includes(name))
}

/**
 * The address of the calls that finished in a time, with the filters of the view.
 *
 * @param from UNIX seconds
 * @param to UNIX seconds
 */
export function callsAddress(query: URLSearchParams, from: number, to: number) {
  const kinds = Object.fromEntries(RULE_LABELS.map((name) => [name, query.get(name) ?? '']))
  return addressOf('calls', { target: query.getAll('target'), ...kinds, since: isoOf(from), until: isoOf(to) })
}

/**
 * The address of the charts of a period.
 *
 * @param from UNIX seconds
 * @param to UNIX seconds
 */
export const zoomAddress = (from: number, to: number) => changedAddress({ since: isoOf(from), until: isoOf(to) })

/**
 * Twice the period of the charts, which does not last longer than until now (UNIX seconds).
 *
 * @param now UNIX seconds
 */
export function widerPeriod(
  { since, until }: Pick<CallSeries, 'since' | 'until'>,
  now: number,
): [from: number, to: number] {
  const to = Date.parse(until) / 1000
  const length = to - Date.parse(since) / 1000
  const end = Math.min(to + length / 2, Math.max(to, now))
  return [end - 2 * length, end]
}
