import { daysOf, type Period } from './days.ts'

/**
 * A day of a period, or the part of it that belongs to the period, and the same day of the period before; undefined if that has no such
 * day, as February has no 30th.
 */
export type DayPair = { day: string; now: Period; before: (Period & { day: string }) | undefined }

const HOURS_OF_WEEK = 168

/**
 * The days of a period, each with the day that it is compared with. A month, also one that is not over, is compared with the month before,
 * date by date; any other period with the same weekdays and times of so many whole weeks earlier that both have less than an hour in common:
 * the last seven days of a request that takes a second are compared with the seven days before.
 *
 * @param isRunning whether the period ends now
 * @param zone of the days (an IANA name)
 */
export function dayPairs(period: Period, zone: string, isRunning: boolean): DayPair[] {
  const days = daysOf(period, zone)
  const zoned = (time: number) =>
    Temporal.Instant.fromEpochMilliseconds(Math.floor(time * 1000)).toZonedDateTimeISO(zone)
  const secondsOf = (time: Temporal.ZonedDateTime) => time.epochMilliseconds / 1000
  const first = days[0] && zoned(days[0].from).toPlainDate()
  if (first === undefined) return []
  const isOfMonth =
    first.day === 1 &&
    period.from === days[0]!.from &&
    (isRunning ? days.length <= first.daysInMonth : days.length === first.daysInMonth)
  const [begin, end] = [period.from, period.to].map((time) => zoned(time).toPlainDateTime())
  const hours = Math.floor(begin!.until(end!).total('hours'))
  const back = isOfMonth ? { months: 1 } : { weeks: Math.max(1, Math.ceil(hours / HOURS_OF_WEEK)) }
  return days.map(({ name, from }, i) => {
    const date = zoned(from).toPlainDate()
    const end = days[i + 1]?.from ?? secondsOf(date.add({ days: 1 }).toZonedDateTime(zone))
    const now = { from: Math.max(from, period.from), to: Math.min(end, period.to) }
    const other = date.subtract(back)
    if (isOfMonth && other.day !== date.day) return { day: name, now, before: undefined }
    // The same times of the day, also if the clocks changed on one of them.
    const at = (time: number) =>
      secondsOf(other.toZonedDateTime({ timeZone: zone, plainTime: zoned(time).toPlainTime() }))
    const before = {
      day: other.toString(),
      from: now.from === from ? secondsOf(other.toZonedDateTime(zone)) : at(now.from),
      to: now.to === end ? secondsOf(other.add({ days: 1 }).toZonedDateTime(zone)) : at(now.to),
    }
    return { day: name, now, before }
  })
}

/** The calendar month that begins with a period and ends after it (UNIX seconds); undefined for any other period. */
export function runningMonth({ from, to }: Period, zone: string): Period | undefined {
  const begin = Temporal.Instant.fromEpochMilliseconds(Math.floor(from * 1000)).toZonedDateTimeISO(zone)
  const end = begin.add({ months: 1 }).epochMilliseconds / 1000
  const isMonth = begin.day === 1 && begin.startOfDay().equals(begin)
  return isMonth && to < end ? { from, to: end } : undefined
}
