import { Cron } from 'croner'

/**
 * Start and end of the month of a time, in a time zone (UNIX seconds; an IANA name).
 *
 * @param day on which a month begins, 28 at most; default: that of the calendar
 */
export function monthOf(time: number, timezone: string, day = 1): { from: number; to: number } {
  const date = zoned(time, timezone).toPlainDate()
  const first = date.with({ day }).subtract({ months: date.day < day ? 1 : 0 })
  return { from: beginOf(first, timezone), to: beginOf(first.add({ months: 1 }), timezone) }
}

export const PERIODS = ['day', 'week', 'month'] as const
/** A period of the calendar. A week begins on Monday. */
export type CalendarPeriod = (typeof PERIODS)[number]

/**
 * The last period whose report is due: it is sent on the day after the period, at a time of the day.
 *
 * @param at `HH:MM`
 * @param timezone an IANA name
 * @param now UNIX seconds, as all times that it returns
 */
export function lastDue(every: CalendarPeriod, at: string, timezone: string, now: number) {
  const date = zoned(now, timezone).toPlainDate()
  const begun = { day: 0, week: date.dayOfWeek - 1, month: date.day - 1 }[every]
  const one = { [`${every}s`]: 1 }
  const dueOn = (day: Temporal.PlainDate) =>
    day.toZonedDateTime({ timeZone: timezone, plainTime: Temporal.PlainTime.from(at) }).epochMilliseconds / 1000
  const current = date.subtract({ days: begun })
  const end = dueOn(current) > now ? current.subtract(one) : current
  return { from: beginOf(end.subtract(one), timezone), to: beginOf(end, timezone), due: dueOn(end) }
}

/**
 * The last time that a cron pattern matched, up to and including `time` (UNIX seconds); undefined if it never did.
 *
 * @param pattern five fields: minute, hour, day of the month, month, day of the week
 */
export function lastTime(pattern: string, timezone: string, time: number): number | undefined {
  // Croner excludes the time that it is given.
  const [last] = cron(pattern, timezone).previousRuns(1, new Date(time * 1000 + 1))
  return last === undefined ? undefined : last.getTime() / 1000
}

/**
 * The same time of the day so much earlier (UNIX seconds), also across a change of the clocks.
 *
 * @param offset seconds; only its whole days are days of the calendar
 * @param timezone an IANA name; default: that of the host, or UTC if it has none
 */
export function earlierBy(time: number, offset: number, timezone = Temporal.Now.timeZoneId()): number {
  const days = Math.floor(offset / 86_400)
  const at = zoned(time, timezone.replace('Etc/Unknown', 'UTC'))
  const passed = at.epochMilliseconds - at.subtract({ days }).epochMilliseconds
  return time - passed / 1000 - (offset - days * 86_400)
}

function beginOf(date: Temporal.PlainDate, timezone: string): number {
  return date.toZonedDateTime(timezone).epochMilliseconds / 1000
}

function zoned(time: number, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(time * 1000)).toZonedDateTimeISO(timezone)
}

const crons = new Map<string, Cron>()

function cron(pattern: string, timezone: string): Cron {
  const key = `${pattern} ${timezone}`
  const known = crons.get(key) ?? new Cron(pattern, { timezone })
  crons.set(key, known)
  return known
}
