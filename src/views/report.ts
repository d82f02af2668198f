import * as z from 'zod'
import { isoTime, wholeMilliseconds } from '../clock/times.ts'
import { BLIND_KINDS, type Coverage } from '../history/coverage.ts'
import type { PeriodReport, Reported } from '../history/report.ts'
import { amountOf, amountsOf, callsOf, histogram, invitedOf, userMinutesOf, type Sums } from '../history/sums.ts'
import { USAGE_KEYS } from '../history/usage-keys.ts'
import { failureRatio, MIN_EXPORTED_CALLS } from '../ledger/failure-ratio.ts'
import type { CsvFormat } from '../text/csv.ts'
import { columnsOf, csvOf } from './columns.ts'
import { severity } from './rule.ts'
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
  invited: z
    .object({ joined: count, absent: count, unknown: count })
    .describe('People invited, without the initiator; unknown: calls of which that is not known'),
  not_joined_ratio: ratio.nullable().describe('Share of the invited people who did not join; null below five people'),
  /** For calls that ended. */
  duration_seconds: z.object({ mean: percentile, ...percentiles.shape }).describe('The percentiles are exact to 2%'),
})

export function figuresView(sums: Sums): z.output<typeof figures> {
  const finished = byOutcome((status) => callsOf(sums, status))
  const total = Object.values(finished).reduce((all, n) => all + n, 0)
  const { known, percentiles } = histogram(sums, 'duration')
  const invited = invitedOf(sums)
  const people = invited.joined + invited.absent
  return {
    calls: { ...finished, lost: callsOf(sums, 'lost') },
    minutes: { audio: amountOf(sums, 'audio'), video: amountOf(sums, 'video') },
    participant_minutes: { audio: amountOf(sums, 'participant_audio'), video: amountOf(sums, 'participant_video') },
    user_minutes: userMinutesOf(sums),
    failure_ratio: total < MIN_EXPORTED_CALLS ? null : failureRatio({ ...finished, total }, 'any'),
    invited,
    not_joined_ratio: people < MIN_EXPORTED_CALLS ? null : invited.absent / people,
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

/** What is compared of two periods. */
const amounts = z.object({
  calls: count,
  failure_ratio: ratio.nullable().describe('Null below five calls'),
  participant_minutes: z.number(),
  user_minutes: z.number(),
})

const compared = z.object({
  targets: count,
  days: count.describe('The days of the period, counted for each target'),
  known_days: count.describe('The days of which all calls are known, in this period and in the one before'),
  now: amounts.describe('Of the known days'),
  before: amounts.describe('Of the days that they are compared with'),
})
export type Compared = z.output<typeof compared>

const row = z.object({
  day: z.iso.date().optional(),
  app: z.string().optional(),
  target: z.string().optional(),
  type: z.string().optional(),
  mode: z.string().optional(),
  receiver_type: z.string().optional(),
})
const reported = figures.extend({
  calls: z.object({ total: count.describe('Finished calls'), ...outcomes, lost: count }),
  participant_minutes: minutes.extend({ total: z.number() }),
  noticed_late: count.describe('Calls that were noticed more than five minutes after their end'),
  blind_seconds: seconds.describe('How much of the time of this row is not covered'),
})
const total = reported.extend({ compared })
export type ReportTotal = z.output<typeof total>
const reportRow = row.extend(total.shape)
export type ReportRow = z.output<typeof reportRow>

/** The calls that finished in a period, in a row for each combination of some keys. */
export const report = namedObject('Report', {
  since: time,
  until: time,
  zone: z.string(),
  running: z.boolean().describe('Whether the period lasts until now'),
  before: z.object({ since: time, until: time }).nullable().describe('The period that it is compared with'),
  coverage,
  worst_hour: z
    .object({ since: time, calls: count, failed: count })
    .nullable()
    .describe('The hour in which the largest share of calls failed; null if none is clearly worse than the period'),
  fired: z
    .array(z.object({ alert: z.string(), severity, times: count, targets: count, seconds }))
    .describe('How often the alerts of each rule fired, on how many targets, and for how long on at least one'),
  forecast: z
    .object({ until: time, calls: count, participant_minutes: z.number(), user_minutes: z.number() })
    .nullable()
    .describe('Of a calendar month until its end, at the pace of its known days; null for other periods'),
  by: z.array(z.enum(USAGE_KEYS)),
  rows: z.array(reportRow),
  total: total.describe('Of all rows together'),
})
export type Report = z.output<typeof report>

const amountsView = (sums: Sums): z.output<typeof amounts> => {
  const { calls, failed, participantMinutes, userMinutes } = amountsOf(sums)
  const ratio = calls < MIN_EXPORTED_CALLS ? null : failed / calls
  return { calls, failure_ratio: ratio, participant_minutes: participantMinutes, user_minutes: userMinutes }
}

function totalView({ sums, blindSeconds, compared }: Reported): ReportTotal {
  const all = figuresView(sums)
  const { calls, participantMinutes } = amountsOf(sums)
  return {
    ...all,
    calls: { total: calls, ...all.calls },
    participant_minutes: { ...all.participant_minutes, total: participantMinutes },
    noticed_late: amountOf(sums, 'late'),
    blind_seconds: blindSeconds,
    compared: {
      targets: compared.targets,
      days: compared.days,
      known_days: compared.knownDays,
      now: amountsView(compared.now),
      before: amountsView(compared.before),
    },
  }
}

const worstHourView = ({ from, calls, failed }: NonNullable<PeriodReport['worstHour']>) => {
  return { since: isoTime(from), calls, failed }
}

export function reportView(found: PeriodReport): Report {
  const { from, to, zone, isRunning, by, before, coverage, rows, total, worstHour, fired, forecast } = found
  return {
    since: isoTime(from),
    until: isoTime(to),
    zone,
    running: isRunning,
    before: before === undefined ? null : { since: isoTime(before.from), until: isoTime(before.to) },
    coverage: coverageView(coverage),
    worst_hour: worstHour === undefined ? null : worstHourView(worstHour),
    fired,
    forecast:
      forecast === undefined
        ? null
        : {
            until: isoTime(forecast.until),
            calls: Math.round(forecast.calls),
            participant_minutes: forecast.participantMinutes,
            user_minutes: forecast.userMinutes,
          },
    by: [...by],
    rows: byUserMinutes(by, rows.map(({ keys, ...row }) => ({ ...keys, ...totalView(row) }))), // oxfmt-ignore
    total: totalView(total),
  }
}

/** Rows of one key have the most user minutes first; those of a day, and of several keys, are in the order of these. */
function byUserMinutes(by: PeriodReport['by'], rows: ReportRow[]): ReportRow[] {
  return by.length === 1 && by[0] !== 'day' ? rows.toSorted((a, b) => b.user_minutes - a.user_minutes) : rows
}

/** The columns of a report after those of its keys. */
export const REPORT_COLUMNS = columnsOf(reported)

export const reportText = namedText(
  'ReportCsv',
  'The rows and their total as CSV; format=excel: for a spreadsheet with a decimal comma',
)

/** The rows as CSV with a header, and their total. The first column tells it from the others. */
export function reportCsv({ by, rows, total }: Report, format: CsvFormat): string {
  const column = (name: string) => ({ name, path: [name] })
  const { header, line } = csvOf([...['row', ...by].map(column), ...REPORT_COLUMNS], format)
  const parts = by.length === 0 ? [] : rows.map((row) => ({ row: 'part', ...row }))
  return header + [...parts, { row: 'total', ...total }].map(line).join('')
}
