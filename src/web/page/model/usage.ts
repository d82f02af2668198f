import { USAGE_KEYS, type UsageKey } from '../../../history/usage-keys.ts'
import { getReport, type Report } from './api.ts'
import type { Chart, Series } from './chart.ts'
import { isUnseen, periodsOf } from './chart-series.ts'
import { targetsOf } from './charts.ts'
import { local, momentOf, zoneName } from './format.ts'
import { addFilters, presetPeriod } from './period.ts'
import { current, load, serverTime } from './state.ts'
import { countOf } from './totals.ts'

const DAY_MS = 86_400_000

/** The keys that the address names; by target where it names none, `by=none` is a single row. */
export function keysOf(query: URLSearchParams): UsageKey[] {
  const keys = query.getAll('by').flatMap((names) => names.split(','))
  return keys.length === 0 ? ['target'] : USAGE_KEYS.filter((key) => keys.includes(key))
}

/**
 * The parameters of `/api/v1/report` for the parameters of the view: this month where they name no period.
 *
 * @param now milliseconds since 1970
 */
export function usageRequest(query: URLSearchParams, now: number) {
  const since = query.get('since') || presetPeriod('month', now).since
  const until = query.get('until')
  const request = new URLSearchParams({ since, ...(until && { until }), zone: zoneName() })
  request.set('by', keysOf(query).join(',') || 'none')
  return addFilters(request, query).toString()
}

/** What the view shows. */
export type Usage = {
  report: Report
  /** The same by day; undefined of a day or less. */
  chart: Chart | undefined
}

/** Loads the report that the address names, and the chart of its days. */
export function loadUsage() {
  const { query } = current()
  const now = serverTime()
  const request = usageRequest(query, now)
  const ask = async (): Promise<Usage> => {
    const report = await getReport(request)
    if (Date.parse(report.until) - Date.parse(report.since) <= DAY_MS) return { report, chart: undefined }
    const byDay = new URLSearchParams(request)
    byDay.set('by', 'day')
    // One after the other: the server answers few reports at a time.
    const days = report.by.join() === 'day' ? report : await getReport(byDay.toString())
    const targets = targetsOf(query).map(({ name }) => name)
    return { report, chart: daysChart(days, targets, now) }
  }
  return load('usage', request, ask, 'The report could not be loaded')
}

/** The first and the last day of a report, and its zone: `2026-11-01-to-2026-11-30-Europe/Berlin`. */
export const periodName = ({ since, until, zone }: Report) =>
  `${local(since).slice(0, 10)}-to-${local(Date.parse(until) - 1).slice(0, 10)}-${zone}`

/** Whether all calls of a report are known. */
export const isWhole = ({ coverage }: Report) =>
  !coverage.blind.some(({ kind }) => kind === 'before' || kind === 'expired')

/**
 * The participant minutes by day.
 *
 * @param days a report by day
 * @param targets the names of those that are reported
 * @param now milliseconds since 1970
 */
export function daysChart(days: Report, targets: readonly string[], now: number): Chart {
  const { since, until, zone, rows, coverage, total } = days
  const [from, to] = [Date.parse(since), Date.parse(until)]
  const [first = 0, last = 0] = [from, to - 1].map((at) => Date.parse(local(at).slice(0, 10)))
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const dayAt = (time: number) => new Date(time).toISOString().slice(0, 10)
  const beginOf = (time: number) => momentOf(`${dayAt(time)}T00:00`) / 1000
  const shown = Array.from({ length: (last - first) / DAY_MS + 1 }, (_, i) => {
    const time = first + i * DAY_MS
    const [at, end, row] = [beginOf(time), beginOf(time + DAY_MS), byDay.get(dayAt(time))]
    const isUnknown = isUnseen(coverage, Math.max(from, at * 1000), Math.min(to, end * 1000), targets)
    const hasCalls = row !== undefined && countOf(row) > 0
    return { at, end, row, used: hasCalls ? row.participant_minutes : isUnknown ? undefined : { audio: 0, video: 0 } }
  })
  const bar = (name: 'audio' | 'video', colour: string): Series => {
    return {
      name,
      colour,
      shape: 'bar',
      values: shown.map(({ used }) => used?.[name] ?? null),
      whole: total.participant_minutes[name],
    }
  }
  return {
    id: 'usage-days',
    title: `Participant minutes by day (${zone})`,
    times: shown.map(({ at }) => at),
    step: DAY_MS / 1000,
    complete: shown.filter(({ end }) => end * 1000 <= now).length,
    unit: 'number',
    series: [bar('audio', 'first'), bar('video', 'second')],
    blind: periodsOf(coverage.blind),
  }
}
