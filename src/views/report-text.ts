import { formatNumber, formatSeconds, formatShare, plural } from '../text/format.ts'
import type { Compared, Report, ReportRow, ReportTotal } from './report.ts'

/* The words of a report, which command, messages and page share. */

/** A report as text: all of it in a line, what else there is to say, and its targets, those with the largest share of failed calls first. */
export type ReportText = { title: string; lead: string; lines: string[]; targets: { name: string; lead: string }[] }

/** How many rules a line names. */
const MOST_RULES = 5
const DAY_MS = 86_400_000

export function textOfReport(report: Report): ReportText {
  const { by, rows, total } = report
  const isByTarget = by.length === 1 && by[0] === 'target' && rows.length > 1
  return {
    title: titleOf(report),
    lead: rowText(total),
    lines: [
      outcomesText(total),
      invitedText(total),
      forecastText(report),
      worstHourText(report),
      firedText(report),
      coverageText(report),
      comparedText(report),
    ].filter((line) => line !== ''),
    targets: isByTarget
      ? byShareFailed(rows).map((row) => ({ name: row.target ?? '', lead: rowText(row, total) }))
      : [],
  }
}

/** The rows with the largest share of failed calls first; then those with too few calls for a share. */
export function byShareFailed(rows: readonly ReportRow[]): ReportRow[] {
  const share = ({ failure_ratio: ratio }: ReportRow) => ratio ?? -1
  return rows.toSorted((a, b) => share(b) - share(a) || b.calls.total - a.calls.total)
}

/** `Calls in November 2026 so far (Europe/Berlin)`. */
export function titleOf({ since, until, zone, running }: Pick<Report, 'since' | 'until' | 'zone' | 'running'>): string {
  const [from, to] = [local(since, zone), local(until, zone)]
  const days = (to.day - from.day) / DAY_MS
  const when =
    running && isBeginOfMonth(from, to)
      ? `in ${from.month} so far`
      : !from.isMidnight || !to.isMidnight
        ? `from ${from.date} ${from.time} to ${to.date} ${to.time}`
        : days === 1
          ? `on ${from.weekday}, ${from.date}`
          : isMonth(from, to)
            ? `in ${from.month}`
            : days === 7 && from.weekday === 'Monday'
              ? `in the week from ${from.weekday}, ${from.date}`
              : `from ${from.date} until ${to.date}`
  return `Calls ${when} (${zone})`
}

/**
 * `1,204 calls (+12%), 8,310 participant minutes (-3%), 9,001 user minutes (±0%), 4.2% failed (+1.1 points)`.
 *
 * @param total of the report; default: this is it
 */
export function rowText({ calls, compared, ...row }: ReportTotal, total?: ReportTotal): string {
  const { now, before } = compared
  const changed = (of: 'calls' | 'participant_minutes' | 'user_minutes') =>
    compared.known_days === 0 ? '' : ` (${changeText(now[of], before[of])})`
  const points = pointsText(compared)
  const failed = calls.unanswered + calls.rejected + calls.canceled
  const share = row.failure_ratio === null ? formatNumber(failed) : formatShare(row.failure_ratio)
  const isNew = compared.known_days === 0 && (total?.compared.known_days ?? 0) > 0
  const known = isNew ? 'not known before' : knownText(compared)
  return [
    `${plural(calls.total, 'call')}${changed('calls')}`,
    `${minutes(row.participant_minutes.total, 'participant')}${changed('participant_minutes')}`,
    `${minutes(row.user_minutes, 'user')}${changed('user_minutes')}`,
    // Without calls there is no share, and the text has already said so.
    ...(calls.total === 0 ? [] : [`${share} failed${points === '' ? '' : ` (${points})`}`]),
    ...(known === '' ? [] : [known]),
  ].join(', ')
}

/** `8,310 participant minutes`. */
function minutes(count: number, kind: 'participant' | 'user'): string {
  const text = formatNumber(count, 0)
  return `${text} ${kind} ${text === '1' ? 'minute' : 'minutes'}`
}

/** `+12%`; `0 before`, since there is no percentage of 0. */
export function changeText(now: number, before: number): string {
  if (before === 0) return now === 0 ? 'as before' : '0 before'
  const percent = formatNumber((now / before - 1) * 100, 0)
  return `${percent === '0' ? '±' : percent.startsWith('-') ? '' : '+'}${percent}%`
}

/** `+1.1 points`; empty if either share is not known. */
export function pointsText({ now, before }: Compared): string {
  if (now.failure_ratio === null || before.failure_ratio === null) return ''
  const points = formatNumber((now.failure_ratio - before.failure_ratio) * 100)
  return `${points === '0' ? '±' : points.startsWith('-') ? '' : '+'}${points} points`
}

/** Of how many days the comparison is, or of several targets, of how many days of a target; empty if of all or none. */
export function knownText({ targets, days, known_days: known }: Compared): string {
  if (known === days || known === 0) return ''
  return `known of ${formatNumber(known)} of ${plural(days, targets === 1 ? 'day' : 'target-day')}`
}

/** `ended 1,153, unanswered 30, rejected 15, canceled 6`; empty without calls. */
function outcomesText({ calls: { total, ...outcomes } }: ReportTotal): string {
  if (total + outcomes.lost === 0) return ''
  const { other, lost, ...usual } = outcomes
  const shown = { ...usual, ...(other > 0 && { other }), ...(lost > 0 && { lost }) }
  return Object.entries(shown)
    .map(([status, n]) => `${status} ${formatNumber(n)}`)
    .join(', ')
}

/** `41 of 340 invited people did not join, 12.1%, not known of 3 calls`; empty if it is not known of any. */
export function invitedText({ invited, not_joined_ratio: ratio }: ReportTotal): string {
  const { joined, absent, unknown } = invited
  if (joined + absent === 0) return ''
  const share = ratio === null ? '' : `, ${formatShare(ratio)}`
  const others = unknown === 0 ? '' : `, not known of ${plural(unknown, 'call')}`
  return `${formatNumber(absent)} of ${formatNumber(joined + absent)} invited people did not join${share}${others}`
}

/** What the month will have at its end. */
export function forecastText({ forecast }: Pick<Report, 'forecast'>): string {
  if (forecast === null) return ''
  const { calls, participant_minutes: participants, user_minutes: users } = forecast
  const both = `${minutes(participants, 'participant')}, ${minutes(users, 'user')}`
  return `At this pace by the end of the month: ${plural(calls, 'call')}, ${both}`
}

/** `Worst hour, from Thu 2026-11-19 14:00: 21 of 80 calls failed, 26.3%`. */
export function worstHourText({ worst_hour: worst, zone }: Pick<Report, 'worst_hour' | 'zone'>): string {
  if (worst === null) return ''
  const { weekday, date, time } = local(worst.since, zone)
  const { calls, failed } = worst
  const share = `${formatNumber(failed)} of ${plural(calls, 'call')} failed, ${formatShare(failed / calls)}`
  return `Worst hour, from ${weekday.slice(0, 3)} ${date} ${time}: ${share}`
}

/** `Fired: HighFailureRate (critical) 3 times on 2 targets, for 1h 20m`; empty if nothing fired. */
export function firedText({ fired }: Pick<Report, 'fired'>): string {
  if (fired.length === 0) return ''
  const shown = fired.slice(0, MOST_RULES).map(({ alert, severity, times, targets, seconds }) => {
    const often = times === 1 ? 'once' : `${formatNumber(times)} times`
    return `${alert} (${severity}) ${often}${targets === 1 ? '' : ` on ${plural(targets, 'target')}`}, for ${formatSeconds(seconds)}`
  })
  const more = fired.length - shown.length
  return `Fired: ${[...shown, ...(more > 0 ? [`and ${plural(more, 'more rule')}`] : [])].join('; ')}`
}

const WHY = {
  before: 'before the set-up of',
  expired: 'expired (store.history):',
  ended: 'no successful poll, so that calls were noticed late:',
  now: 'no successful poll at the end:',
} as const

/** `Not covered: 5h (before the set-up of staging, until 2026-11-20 08:00; no successful poll at the end: production)`; empty if all is covered. */
export function coverageText({ coverage, zone }: Pick<Report, 'coverage' | 'zone'>): string {
  const { blind_seconds: seconds, blind } = coverage
  if (blind.length === 0) return ''
  const parts = [...Map.groupBy(blind, ({ kind }) => kind)].map(([kind, times]) => {
    const [first = '', ...others] = new Set(times.map(({ target }) => target))
    const last = times.map(({ until }) => until).toSorted().at(-1)! // oxfmt-ignore
    const { date, time } = local(last, zone)
    const isStart = kind === 'before' || kind === 'expired'
    const more = others.length === 0 ? '' : ` and ${plural(others.length, 'more target')}`
    return `${WHY[kind]} ${first}${more}${isStart ? `, until ${date} ${time}` : ''}`
  })
  return `Not covered: ${formatSeconds(seconds)} (${parts.join('; ')})`
}

/** `Compared with the same days of October 2026`. */
export function comparedText({ before, zone, total: { compared } }: Pick<Report, 'before' | 'zone' | 'total'>): string {
  if (before === null) return ''
  const name = beforeText(before, zone)
  return compared.known_days === 0
    ? `Not compared with ${name}: less than a day is known of both`
    : `Compared with ${name}`
}

function beforeText({ since, until }: NonNullable<Report['before']>, zone: string): string {
  const [from, to] = [local(since, zone), local(until, zone)]
  if (from.isMidnight && to.isMidnight) {
    if (to.day - from.day === DAY_MS) return `${from.weekday}, ${from.date}`
    if (isMonth(from, to)) return from.month
  }
  if (isBeginOfMonth(from, to)) return `the same days of ${from.month}`
  return `${from.date} ${from.time} to ${to.date} ${to.time}`
}

/** The date of the first day of a report, by its zone: `2026-11-19`. */
export const firstDayOf = ({ since, zone }: Pick<Report, 'since' | 'zone'>) => local(since, zone).date

type Local = ReturnType<typeof local>

const isMonth = (from: Local, to: Local) =>
  from.dayOfMonth === 1 && to.dayOfMonth === 1 && to.day - from.day <= 31 * DAY_MS && to.day > from.day

/** Whether a period begins with a month, and ends in it. */
const isBeginOfMonth = (from: Local, to: Local) => from.isMidnight && from.dayOfMonth === 1 && from.month === to.month

/** A time (ISO 8601) in a zone, in words. `day` is the date as milliseconds since 1970, as if it were UTC. */
function local(iso: string, timeZone: string) {
  const at = Date.parse(iso)
  const of = (options: Intl.DateTimeFormatOptions, locale = 'en-US') =>
    new Intl.DateTimeFormat(locale, { timeZone, ...options }).format(at)
  // Swedes write dates as ISO 8601 does.
  const date = of({ dateStyle: 'short' }, 'sv')
  const time = of({ timeStyle: 'short' }, 'sv')
  return {
    date,
    time,
    day: Date.parse(date),
    dayOfMonth: Number(date.slice(8)),
    weekday: of({ weekday: 'long' }),
    month: of({ month: 'long', year: 'numeric' }),
    isMidnight: time === '00:00' && at % 60_000 === 0,
  }
}
