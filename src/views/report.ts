import * as z from 'zod'
import { isoTime, wholeMilliseconds } from '../clock/times.ts'
import { BLIND_KINDS, type Coverage } from '../history/coverage.ts'
import { add, amountOf, callsOf, histogram, userMinutesOf, type Sums } from '../history/sums.ts'
import type { Usage, UsageKey } from '../history/usage.ts'
import { failureRatio, MIN_EXPORTED_CALLS } from '../ledger/failure-ratio.ts'
import type { CsvFormat } from '../text/csv.ts'
import { columnsOf, csvOf } from './columns.ts'
import { byOutcome, count, minutes, namedObject, namedText, outcomes, ratio, seconds, time } from './shapes.ts'

const percentile = seconds.nullable()
export const percentiles = z.object({ p50: percentile, p95: percentile }).describe('Exact to 2%')

/** Of the calls that finished in a time, in the order of the columns of a report. */
export const figures = z.object({
  calls: z.object({ ...outcomes, lost: count }),
  /** Call-level minutes, with the service's latest values. */
  minutes,
  participant_minutes: minutes,
  user_minutes: z.number().describe('The formula that the vendor publishes: the duration of each call × who joined'),
  failure_ratio: ratio.nullable().describe('Null below five calls'),
  /** For calls that ended. */
  duration_seconds: z.object({ mean: percentile, ...percentiles.shape }).describe('The percentiles are exact to 2%'),
})

export function figuresView(sums: Sums): z.output<typeof figures> {
  const finished = byOutcome((status) => callsOf(sums, status))
  const total = Object.values(finished).reduce((all, n) => all + n, 0)
  const { known, percentiles } = histogram(sums, 'duration')
  return {
    calls: { ...finished, lost: callsOf(sums, 'lost') },
    minutes: { audio: amountOf(sums, 'audio'), video: amountOf(sums, 'video') },
    participant_minutes: { audio: amountOf(sums, 'participant_audio'), video: amountOf(sums, 'participant_video') },
    user_minutes: userMinutesOf(sums),
    failure_ratio: total < MIN_EXPORTED_CALLS ? null : failureRatio({ ...finished, total }, 'any'),
    duration_seconds: {
      mean: known === 0 ? null : wholeMilliseconds(amountOf(sums, 'duration') / known),
      ...percentiles,
    },
  }
}

export const coverage = namedObject('Coverage', {
  blind_seconds: seconds.describe('How long the calls of at least one target are not all known'),
  blind: z.array(
    z.object({
      target: z.string(),
      kind: z
        .enum(BLIND_KINDS)
        .describe(
          'before: the target was not set up yet; expired: calls that finished then are not kept any more; ended: what finished meanwhile was noticed late; now: no poll has succeeded since',
        ),
      since: time,
      until: time,
    }),
  ),
})

export function coverageView({ blindSeconds, blind }: Coverage): z.output<typeof coverage> {
  return {
    blind_seconds: blindSeconds,
    blind: blind.map(({ target, kind, from, to }) => ({ target, kind, since: isoTime(from), until: isoTime(to) })),
  }
}

const summed = figures.extend({
  noticed_late: count.describe('Calls that were noticed more than five minutes after their end'),
})
const row = z.object({
  day: z.iso.date().optional(),
  target: z.string().optional(),
  type: z.string().optional(),
  mode: z.string().optional(),
  receiver_type: z.string().optional(),
  ...summed.shape,
})
export type ReportRow = z.output<typeof row>

/** The calls that finished in a period, in a row for each combination of some keys. */
export const report = namedObject('Report', {
  since: time,
  until: time,
  zone: z.string(),
  coverage,
  rows: z.array(row),
  total: summed.describe('Of all rows together'),
})
export type Report = z.output<typeof report>

const sumsView = (sums: Sums) => ({ ...figuresView(sums), noticed_late: amountOf(sums, 'late') })

export function rowView({ keys, sums }: Usage['rows'][number]): ReportRow {
  return { ...keys, ...sumsView(sums) }
}

export function reportView({ from, to, zone, coverage, rows }: Usage): Report {
  const total: Sums = new Map()
  for (const { sums } of rows) sums.forEach((n, key) => add(total, key, n))
  return {
    since: isoTime(from),
    until: isoTime(to),
    zone,
    coverage: coverageView(coverage),
    rows: rows.map(rowView),
    total: sumsView(total),
  }
}

/** The columns of a report after those of its keys. */
export const REPORT_COLUMNS = columnsOf(summed)

export const reportText = namedText(
  'ReportCsv',
  'The rows as CSV; format=excel: for a spreadsheet with a decimal comma',
)

/** What CSV has of a report. */
type CsvOptions = {
  by: readonly UsageKey[]
  format: CsvFormat
  /** Whether the last row is the total. The first column tells it from the others. */
  total?: boolean | undefined
}

/**
 * The rows as CSV with a header. Each row says how much of the whole period is not covered. Without rows, an empty row says
 * so.
 */
export function reportCsv({ rows, total, coverage }: Report, { by, format, total: hasTotal }: CsvOptions): string {
  const column = (name: string) => ({ name, path: [name] })
  const names = [...(hasTotal ? ['row'] : []), ...by]
  const { header, line } = csvOf([...names.map(column), ...REPORT_COLUMNS, column('blind_seconds')], format)
  const parts = rows.map((row) => ({ row: 'part', ...row }))
  const lines = hasTotal ? [...parts, { row: 'total', ...total }] : parts.length === 0 ? [{}] : parts
  return header + lines.map((each) => line({ ...each, blind_seconds: coverage.blind_seconds })).join('')
}
