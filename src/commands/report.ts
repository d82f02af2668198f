import { existsSync } from 'node:fs'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { readServiceNow } from '../history/coverage.ts'
import { reportOf } from '../history/report.ts'
import { USAGE_KEYS, usageKeys, type UsageKey } from '../history/usage-keys.ts'
import { appsOf } from '../ledger/session-id.ts'
import { isTimezone } from '../schema/timezone.ts'
import { openReader } from '../store/open-store.ts'
import type { CsvFormat } from '../text/csv.ts'
import { formatNumber, formatSeconds, formatShare } from '../text/format.ts'
import { plainText } from '../text/plain-text.ts'
import { withoutNoise } from '../text/without-noise.ts'
import { cellOf, type Cell } from '../views/columns.ts'
import {
  REPORT_COLUMNS,
  reportCsv,
  reportView,
  type Report,
  type ReportRow,
  type ReportTotal,
} from '../views/report.ts'
import { coverageText, textOfReport } from '../views/report-text.ts'
import { periodOf } from '../history/queries/parameters.ts'
import { targetsOf } from './service.ts'
import {
  formatOption,
  jsonOption,
  Option,
  tableLines,
  WIDE,
  widthOf,
  type CommandContext,
  type Declare,
} from './command.ts'
import { UsageError } from './explain-error.ts'
import { monthGiven } from './options/month.ts'
import { names } from './options/option-values.ts'
import { pollOnce } from './poll-once.ts'

/** What is reported without a store. */
const LAST_DAY = '1d'

/** Prints what finished in a period: calls by outcome, minutes, failures, durations. */
export const declare: Declare = (command, context) => {
  const { configured, print, warn, succeed } = context
  command
    .option('--since <time>', 'from this date or time on, or this long ago (default: all that the store keeps)')
    .option('--until <time>', 'before this date or time (default: now)')
    .addOption(
      new Option('--month <month>', 'instead: this calendar month, such as 2026-11').conflicts(['since', 'until']),
    )
    .option(
      '--by <keys>',
      'a row for each day, app, target, type, mode or receiver_type; repeatable; or none (default: target)',
      names,
    )
    .option('--target <names>', 'only these targets; repeatable', names)
    .option('--zone <name>', 'the time zone of dates and days', 'UTC')
    .option(...WIDE)
    .addOption(formatOption('how to print it', 'csv', 'excel'))
    .addOption(jsonOption('print it as JSON'))
    .action(async (options) => {
      const { zone, format, json } = options
      if (!isTimezone(zone)) throw new UsageError(`--zone ${zone}: expected a time zone such as Europe/Berlin, or UTC`)
      const by = keysOf(options.by)
      const config = await configured(options)
      const { since, until } = options.month === undefined ? options : monthGiven(options.month)
      await using source = await openSource(config, { targets: options.target, since, zone, warn })
      const { reader, targets, listedFrom } = source
      const isStored = listedFrom === undefined
      if (source.failed > 0) succeed(false)
      if (targets?.length === 0) return
      const now = systemClock.wall()
      const given = { since: since ?? (isStored ? '0' : LAST_DAY), until, zone }
      const period = periodOf(given, await readServiceNow(reader, targets, now), '--')
      const from = since === undefined && isStored ? undefined : period.from
      const asked = { ...period, from, by, zone, targets, appOf: appsOf(config.targets) }
      const found = reportView(await reportOf(reader, asked, { configured: namesIn(config), now, listedFrom }))
      if (json) print(JSON.stringify(withoutNoise(found), undefined, 2))
      else if (format === 'table') printText(found, widthOf(context, options), context)
      else printCsv(found, format, context)
    })
}

function printText(report: Report, width: number, { print, printWhole }: CommandContext): void {
  const { title, lead, lines } = textOfReport(report)
  for (const line of [title, lead, ...lines]) print(line)
  for (const line of tableOf(report, width)) printWhole(line)
}

function printCsv(report: Report, format: CsvFormat, { printWhole, warn }: CommandContext): void {
  for (const line of reportCsv(report, format).trimEnd().split('\r\n')) printWhole(line)
  const gaps = coverageText(report)
  if (gaps !== '') warn(gaps)
}

function keysOf(given: readonly string[] | undefined): UsageKey[] {
  const keys = usageKeys(given)
  if (keys === undefined)
    throw new UsageError(`--by ${given?.join()}: expected some of ${USAGE_KEYS.join(', ')}, or none`)
  return keys
}

const namesIn = ({ targets }: Config) => targets.map(({ name }) => name)

type SourceOptions = {
  targets: readonly string[] | undefined
  since: string | undefined
  zone: string
  warn: (line: string) => void
}

/**
 * The store. If its file does not exist, each target is polled once into memory.
 *
 * @returns also the targets that are reported, undefined for all of the store; and how many could not be read
 * @throws {StoreError} if the store cannot be read
 * @throws {QueryError} for an unknown target
 */
async function openSource(config: Config, { targets, since = LAST_DAY, zone, warn }: SourceOptions) {
  const { store: address } = config
  if ('url' in address || existsSync(address.path)) {
    const reader = await openReader(address)
    return { reader, targets, listedFrom: undefined, failed: 0, [Symbol.asyncDispose]: reader.close }
  }
  const wanted = targetsOf(config, targets)
  warn(`there is no store at ${address.path}: this is what the services list now`)
  const now = systemClock.wall()
  const { from } = periodOf({ since, zone }, now, '--')
  const { store, read } = await pollOnce({ ...config, targets: wanted }, now - from, warn)
  const failed = wanted.length - read.length
  return { reader: store, targets: read, listedFrom: from, failed, [Symbol.asyncDispose]: store.close }
}

const OF_INVITED = ['invited_joined', 'invited_absent', 'invited_unknown', 'not_joined_ratio']
/** Columns that a table omits if no row has any. */
const SELDOM = ['other', 'lost', ...OF_INVITED, 'noticed_late', 'blind_seconds']

/** The header of a column: durations have their unit in each cell. */
const headerOf = (name: string) =>
  name
    .replace('blind_seconds', 'not covered')
    .replace('_duration_seconds', '')
    .replace('minutes', 'min')
    .replace('failure_ratio', 'failed')
    .replace('_ratio', '')
    .replace('noticed_', '')
    .replaceAll('_', ' ')

/** The least important first. */
const GIVES_WAY = [
  'invited unknown',
  'invited absent',
  'invited joined',
  'participant audio min',
  'participant video min',
  'late',
  'mean',
  'audio min',
  'video min',
  'p95',
  'p50',
  'not covered',
  'not joined',
  'canceled',
  'rejected',
  'unanswered',
  'ended',
  'participant min',
  'user min',
]

function tableOf({ by, rows, total }: Report, width: number): string[] {
  if (by.length === 0 || rows.length === 0) return []
  const all: (ReportTotal | ReportRow)[] = rows.length === 1 ? rows : [...rows, total]
  const shown = REPORT_COLUMNS.filter(
    (column) => !SELDOM.includes(column.name) || all.some((row) => (cellOf(row, column) ?? 0) !== 0),
  )
  const header = [...by, ...shown.map(({ name }) => headerOf(name))]
  const lines = all.map((row) => [
    ...by.map((key, i) => plainText(key in row ? (row as ReportRow)[key]! : i === 0 ? 'total' : '')),
    ...shown.map((column) => cellText(column.name, cellOf(row, column))),
  ])
  return tableLines(header, lines, by.length, { width, givesWay: GIVES_WAY })
}

function cellText(name: string, value: Cell): string {
  if (typeof value !== 'number') return String(value ?? '-')
  if (name.endsWith('_ratio')) return formatShare(value)
  if (name.endsWith('_seconds')) return formatSeconds(value)
  return formatNumber(value)
}
