import { Cron } from 'croner'

/** Start and end of the calendar month of a time, in a time zone (UNIX seconds; an IANA name). */
export function monthOf(time: number, timezone: string): { from: number; to: number } {
  return periodOf(time, FIRST_OF_THE_MONTH, timezone)
}

/** Start and end of the day of a time, in a time zone (UNIX seconds; an IANA name). */
export function dayOf(time: number, timezone: string): { from: number; to: number } {
  return periodOf(time, MIDNIGHT, timezone)
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
  const zone = timezone.replace('Etc/Unknown', 'UTC')
  const at = Temporal.Instant.fromEpochMilliseconds(Math.floor(time * 1000)).toZonedDateTimeISO(zone)
  const passed = at.epochMilliseconds - at.subtract({ days }).epochMilliseconds
  return time - passed / 1000 - (offset - days * 86_400)
}

/** The date of a time in a time zone: `2026-11-20`. */
export function dayName(time: number, timezone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(time * 1000)
}

const FIRST_OF_THE_MONTH = '0 0 1 * *'
const MIDNIGHT = '0 0 * * *'

function periodOf(time: number, pattern: string, timezone: string): { from: number; to: number } {
  const from = lastTime(pattern, timezone, time)
  const next = cron(pattern, timezone).nextRun(new Date(time * 1000))
  if (from === undefined || next === null) throw new RangeError(`${pattern} never matches in ${timezone}`)
  return { from, to: next.getTime() / 1000 }
}

const crons = new Map<string, Cron>()

function cron(pattern: string, timezone: string): Cron {
  const key = `${pattern} ${timezone}`
  const known = crons.get(key) ?? new Cron(pattern, { timezone })
  crons.set(key, known)
  return known
}
