import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { QueryError } from '../history/history-scope.ts'
import { USAGE_COLUMNS, usageCsv, usageReport, type UsageReport } from '../history/usage-report.ts'
import { USAGE_KEYS, type UsageKey } from '../history/usage.ts'
import { isTimezone } from '../schema/timezone.ts'
import { openReader } from '../store/open-store.ts'
import { formatNumber, formatSeconds, formatShare } from '../text/format.ts'
import { plainText } from '../text/plain-text.ts'
import { UsageError } from './explain-error.ts'
import { periodOf, type PeriodOptions } from './period-options.ts'
import { tableLines } from './table-lines.ts'

export type ReportOptions = PeriodOptions & {
  by?: readonly string[]
  target?: readonly string[]
  zone: string
  format: 'table' | 'csv'
  json: boolean
}

export type ReportOutput = {
  print: (line: string) => void
  /** Says what is not part of the report. */
  warn: (line: string) => void
}

/**
 * Prints what finished in a period: calls by outcome, minutes, failures, durations. Reads the store while a daemon may be running.
 *
 * @throws {UsageError} for a time, key, zone or target that there is not
 * @throws {StoreError} when there is no store, or it cannot be read
 */
export async function report(config: Config, options: ReportOptions, { print, warn }: ReportOutput): Promise<void> {
  const { zone, format, json } = options
  if (!isTimezone(zone)) throw new UsageError(`--zone ${zone}: expected a time zone such as Europe/Berlin, or UTC`)
  const by = keysOf(options.by ?? [])
  const now = systemClock.wall()
  const { from, to } = periodOf(options, zone, now)
  const reader = await openReader(config.store)
  try {
    const configured = config.targets.map(({ name }) => name)
    const found = await usageReport(reader, { from, to, by, zone, targets: options.target }, { configured, now })
    if (json) print(JSON.stringify(found, undefined, 2))
    else
      for (const line of format === 'csv' ? usageCsv(found, by).trimEnd().split('\r\n') : tableOf(found, by))
        print(line)
    if (!json) for (const line of gapsOf(found)) warn(line)
  } catch (error) {
    throw error instanceof QueryError ? new UsageError(error.message) : error
  } finally {
    await reader.close()
  }
}

function keysOf(names: readonly string[]): UsageKey[] {
  const unknown = names.find((name) => !USAGE_KEYS.some((key) => key === name))
  if (unknown !== undefined) throw new UsageError(`--by ${unknown}: expected some of ${USAGE_KEYS.join(', ')}`)
  return USAGE_KEYS.filter((key) => names.includes(key))
}

/** Outcomes that a table leaves out where no row has any: their column would be zeros. */
const SELDOM = ['other', 'lost', 'noticed_late']

function tableOf({ rows }: UsageReport, by: readonly UsageKey[]): string[] {
  if (rows.length === 0) return ['no calls']
  const shown = Object.entries(USAGE_COLUMNS).filter(
    ([name, valueOf]) => !SELDOM.includes(name) || rows.some((row) => valueOf(row) !== 0),
  )
  const header = [...by, ...shown.map(([name]) => name.replaceAll('_', ' '))]
  const lines = rows.map((row) => [
    ...by.map((key) => plainText(row[key]!)),
    ...shown.map(([name, valueOf]) => cellText(name, valueOf(row))),
  ])
  return tableLines(header, lines, by.length)
}

function cellText(name: string, value: ReturnType<(typeof USAGE_COLUMNS)[string]>): string {
  if (value === null) return '-'
  if (typeof value === 'string') return value
  if (name === 'failure_ratio') return formatShare(value)
  if (name.endsWith('_seconds')) return formatSeconds(value)
  return formatNumber(value)
}

/** What the sums may lack, in sentences. */
function gapsOf({ coverage: { blind_seconds: seconds, blind } }: UsageReport): string[] {
  if (blind.length === 0) return []
  const ofKind = (wanted: string) => blind.filter(({ kind }) => kind === wanted)
  const [expired, now] = [ofKind('expired'), ofKind('now')]
  const names = (times: typeof blind) => times.map(({ target }) => target).join(', ')
  const last = expired
    .map(({ until }) => until)
    .toSorted()
    .at(-1)
  return [
    `not covered: ${formatSeconds(seconds)} in which at least one target was not polled with success ` +
      `(calls of these times are counted once they are noticed)${last ? ' or its calls have expired' : ''}; ` +
      '--json lists them',
    ...(last ? [`expired (store.history): calls of ${names(expired)} that finished before ${last} are missing`] : []),
    ...(now.length === 0 ? [] : [`not polled at the end of the period: ${names(now)}`]),
  ]
}
