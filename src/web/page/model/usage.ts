import { getReport, type Report } from './api.ts'
import type { Chart, Series } from './chart.ts'
import { bandsOf, isUnseen } from './chart-series.ts'
import { targetsOf } from './charts.ts'
import { local, momentOf, zoneName } from './format.ts'
import { addFilters, periodBefore, presetPeriod } from './period.ts'
import { current, load, serverTime } from './state.ts'

const DAY_MS = 86_400_000

/** By what a report has rows, in the order of its columns. */
export const KEYS = ['day', 'target', 'type', 'mode', 'receiver_type'] as const

/** The keys that the address names; by target where it names none, `by=none` is a single row. */
export function keysOf(query: URLSearchParams): (typeof KEYS)[number][] {
  const keys = query.getAll('by').flatMap((names) => names.split(','))
  return keys.length === 0 ? ['target'] : KEYS.filter((key) => keys.includes(key))
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
  /** The time before by day; undefined if none of its calls is known. */
  before: Report | undefined
  /** The same by day, next to the time before; undefined of a day or less. */
  chart: Chart | undefined
}

/** Loads the report that the address names, and what is shown next to it. */
export function loadUsage() {
  const { query } = current()
  const now = serverTime()
  const request = usageRequest(query, now)
  const ask = async (): Promise<Usage> => {
    const report = await getReport(request)
    const [from, to] = [Date.parse(report.since), Date.parse(report.until)]
    // One after the other: the server answers few reports at a time.
    const days = await byDay(request, from, to)
    const { since, until } = periodBefore(from, to)
    const found = await byDay(request, since, until).catch(() => undefined)
    const before = found && (isWhole(found) || found.rows.length > 0) ? found : undefined
    const targets = targetsOf(query).map(({ name }) => name)
    return { report, before, chart: to - from > DAY_MS ? daysChart({ days, before, targets }, now) : undefined }
  }
  return load('usage', request, ask, 'The report could not be loaded')
}

/**
 * @param since milliseconds since 1970
 * @param until milliseconds since 1970
 */
function byDay(request: string, since: number, until: number) {
  const asked = new URLSearchParams(request)
  for (const [name, time] of Object.entries({ since, until })) asked.set(name, new Date(time).toISOString())
  asked.set('by', 'day')
  return getReport(asked.toString())
}

/** Whether all calls of a report are known. */
export const isWhole = ({ coverage }: Report) =>
  !coverage.blind.some(({ kind }) => kind === 'before' || kind === 'expired')

/** The days of a report, by its zone (UNIX seconds), with the participant minutes of each; without them if no target was seen. */
function daysOf({ since, until, rows, coverage }: Report, targets: readonly string[]) {
  const [from, to] = [Date.parse(since), Date.parse(until)]
  const [first = 0, last = 0] = [from, to - 1].map((at) => Date.parse(local(at).slice(0, 10)))
  const minutes = new Map(rows.map((row) => [row.day, row.participant_minutes]))
  const dayAt = (time: number) => new Date(time).toISOString().slice(0, 10)
  const beginOf = (time: number) => momentOf(`${dayAt(time)}T00:00`) / 1000
  return Array.from({ length: (last - first) / DAY_MS + 1 }, (_, i) => {
    const time = first + i * DAY_MS
    const [at, end] = [beginOf(time), beginOf(time + DAY_MS)]
    const isKnown = !isUnseen(coverage, Math.max(from, at * 1000), Math.min(to, end * 1000), targets)
    return { at, end, used: minutes.get(dayAt(time)) ?? (isKnown ? { audio: 0, video: 0 } : undefined) }
  })
}

type Days = { days: Report; before: Report | undefined; targets: readonly string[] }

/**
 * The participant minutes by day, next to those of the time before.
 *
 * @param targets the names of those that are reported
 * @param now milliseconds since 1970
 */
export function daysChart({ days, before, targets }: Days, now: number): Chart {
  const shown = daysOf(days, targets)
  const earlier = before && daysOf(before, targets)
  const { name } = periodBefore(Date.parse(days.since), Date.parse(days.until))
  const bar = (name: 'audio' | 'video', colour: string): Series => {
    return { name, colour, shape: 'bar', values: shown.map(({ used }) => used?.[name] ?? null) }
  }
  const sums = shown.map((_, i) => (earlier?.[i]?.used ? earlier[i].used.audio + earlier[i].used.video : null))
  return {
    id: 'usage-days',
    title: `Participant minutes by day (${days.zone})`,
    times: shown.map(({ at }) => at),
    step: DAY_MS / 1000,
    complete: shown.filter(({ end }) => end * 1000 <= now).length,
    unit: 'number',
    series: [
      bar('audio', 'first'),
      bar('video', 'second'),
      ...(earlier ? [{ name, colour: 'text', shape: 'dots' as const, values: sums }] : []),
    ],
    bands: bandsOf(days.coverage.blind, [], 0),
  }
}
