import { systemClock } from '../clock/clock.ts'
import { isoTime } from '../clock/times.ts'
import { readServiceNow } from '../history/coverage.ts'
import { usageReport, USAGE_KEYS, type UsageKey } from '../history/usage.ts'
import { isTimezone } from '../schema/timezone.ts'
import type { PastMessage } from '../notifications/message.ts'
import { pastBulletin } from '../notifications/text/past-text.ts'
import { openReader } from '../store/open-store.ts'
import { formatNumber, formatSeconds, formatShare } from '../text/format.ts'
import { plainText } from '../text/plain-text.ts'
import { withoutNoise } from '../text/without-noise.ts'
import { cellOf, type Cell } from '../views/columns.ts'
import { messageView } from '../views/messages/message-body.ts'
import { REPORT_COLUMNS, reportCsv, reportView, type Report } from '../views/report.ts'
import { periodOf } from '../views/queries/parameters.ts'
import { formatOption, jsonOption, Option, tableLines, WIDE, widthOf, type Declare } from './command.ts'
import { liveReport } from './live-report.ts'
import { UsageError } from './explain-error.ts'
import { names } from './options/option-values.ts'

/** Prints what finished in a period: calls by outcome, minutes, failures, durations. */
export const declare: Declare = (command, context) => {
  const { configured, print, printWhole, warn, succeed } = context
  command
    .option('--since <time>', 'from this date or time on, or this long ago (default: all that the store keeps)')
    .option('--until <time>', 'before this date or time (default: now)')
    .option('--by <keys>', 'a row for each day, target, type, mode or receiver_type; repeatable', names)
    .option('--target <names>', 'only these targets; repeatable', names)
    .option('--zone <name>', 'the time zone of dates and days', 'UTC')
    .addOption(
      new Option('--live', "report the last day from the service's list, without a store or a daemon")
        .default(false)
        .conflicts(['since', 'until', 'by', 'format']),
    )
    .option(...WIDE)
    .addOption(formatOption('how to print it', 'csv', 'excel'))
    .addOption(jsonOption('print it as JSON'))
    .action(async (options) => {
      const { zone, format, json, target: targets } = options
      if (!isTimezone(zone)) throw new UsageError(`--zone ${zone}: expected a time zone such as Europe/Berlin, or UTC`)
      const config = await configured(options)
      if (options.live) {
        const { message, failed } = await liveReport(config, { targets, zone, warn })
        if (json) print(JSON.stringify(messageView(message, message.to), undefined, 2))
        else if (message.targets.length > 0) for (const line of liveLines(message)) print(line)
        return succeed(failed === 0)
      }
      const by = keysOf(options.by ?? [])
      const now = systemClock.wall()
      const known = { configured: config.targets.map(({ name }) => name), now }
      await using reader = await openReader(config.store)
      const { since, until } = options
      const period = periodOf({ since: since ?? '0', until, zone }, await readServiceNow(reader, targets, now), '--')
      const from = since === undefined ? undefined : period.from
      const found = reportView(await usageReport(reader, { ...period, from, by, zone, targets }, known))
      if (json) return print(JSON.stringify(withoutNoise(found), undefined, 2))
      const lines =
        format === 'table'
          ? [periodText(found), ...tableOf(found, by, widthOf(context, options))]
          : reportCsv(found, { by, format }).trimEnd().split('\r\n')
      lines.forEach((line) => printWhole(line))
      gapsOf(found).forEach(warn)
    })
}

/** No daemon watches yet. */
function liveLines(message: PastMessage): string[] {
  const { title, parts } = pastBulletin(message)
  const past = title.replace('callwatch watches ', '')
  const told = parts.flatMap(({ name, lead, lines }, i) => [
    `${i === 0 ? `${past}: ${name}` : 'A daemon raises'}: ${lead}`,
    ...lines.map((line) => `  ${line}`),
  ])
  const { from, to, timezone: zone } = message
  return [periodText({ since: isoTime(from), until: isoTime(to), zone }), ...told]
}

/** `27 Nov 2026 00:00 to 28 Nov 2026 00:00 (UTC)`. */
function periodText({ since, until, zone }: Pick<Report, 'since' | 'until' | 'zone'>): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'medium', timeStyle: 'short' })
  const times = [since, until].map((time) => format.format(Date.parse(time)).replace(',', ''))
  return `${times.join(' to ')} (${zone})`
}

function keysOf(names: readonly string[]): UsageKey[] {
  const unknown = names.find((name) => !USAGE_KEYS.some((key) => key === name))
  if (unknown !== undefined) throw new UsageError(`--by ${unknown}: expected some of ${USAGE_KEYS.join(', ')}`)
  return USAGE_KEYS.filter((key) => names.includes(key))
}

/** Outcomes that a table omits if no row has any. */
const SELDOM = ['other', 'lost', 'noticed_late']

/** The header of a column: durations have their unit in each cell. */
const headerOf = (name: string) =>
  name
    .replace('_duration_seconds', '')
    .replace('minutes', 'min')
    .replace('failure_ratio', 'failed')
    .replace('noticed_', '')
    .replaceAll('_', ' ')

/** The least important first. */
const GIVES_WAY = [
  'participant audio min',
  'participant video min',
  'late',
  'mean',
  'audio min',
  'video min',
  'p95',
  'p50',
  'user min',
  'canceled',
  'rejected',
  'unanswered',
]

function tableOf({ rows }: Report, by: readonly UsageKey[], width: number): string[] {
  if (rows.length === 0) return ['no calls']
  const shown = REPORT_COLUMNS.filter(
    (column) => !SELDOM.includes(column.name) || rows.some((row) => cellOf(row, column) !== 0),
  )
  const header = [...by, ...shown.map(({ name }) => headerOf(name))]
  const lines = rows.map((row) => [
    ...by.map((key) => plainText(row[key]!)),
    ...shown.map((column) => cellText(column.name, cellOf(row, column))),
  ])
  return tableLines(header, lines, by.length, { width, givesWay: GIVES_WAY })
}

function cellText(name: string, value: Cell): string {
  if (typeof value !== 'number') return String(value ?? '-')
  if (name === 'failure_ratio') return formatShare(value)
  if (name.endsWith('_seconds')) return formatSeconds(value)
  return formatNumber(value)
}

/** What the sums may lack, in sentences. */
function gapsOf({ coverage: { blind_seconds: seconds, blind } }: Report): string[] {
  if (blind.length === 0) return []
  const { expired = [], now = [] } = Object.groupBy(blind, ({ kind }) => kind)
  const names = (times: typeof blind) => times.map(({ target }) => target).join(', ')
  const last = expired.toSorted((a, b) => b.until.localeCompare(a.until))[0]?.until
  return [
    `not covered: ${formatSeconds(seconds)} in which at least one target was not polled with success ` +
      `(calls of these times are counted once they are noticed)${last ? ' or its calls have expired' : ''}; ` +
      '--json lists them',
    ...(last ? [`expired (store.history): calls of ${names(expired)} that finished before ${last} are missing`] : []),
    ...(now.length === 0 ? [] : [`not polled at the end of the period: ${names(now)}`]),
  ]
}
