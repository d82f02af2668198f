import { Cron } from 'croner'

/** Start and end of the calendar month of a time, in a time zone (UNIX seconds; an IANA name). */
export function monthOf(time: number, timezone: string): { from: number; to: number } {
  const first = zoned(time, timezone).toPlainDate().with({ day: 1 })
  const beginOf = (date: Temporal.PlainDate) => date.toZonedDateTime(timezone).epochMilliseconds / 1000
  return { from: beginOf(first), to: beginOf(first.add({ months: 1 })) }
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
