import { EARLIEST_TIME } from '../clock/times.ts'
import { parseDuration } from '../schema/duration-text.ts'

/** The forms that {@link parseMoment} accepts, in a sentence: with a time zone, and without one. */
export const MOMENT =
  'a date such as 2026-11-01, a time such as 2026-11-20T08:00 or 2026-11-20T08:00:00Z, UNIX seconds, or how long ago, such as 7d'
export const MOMENT_IN_UTC =
  'a time: ISO 8601 in UTC like 2026-11-20T08:00:00Z or 2026-11-20, UNIX seconds, or how long ago, such as 7d'

/**
 * Parses a time that a user wrote (UNIX seconds); undefined for any other text.
 *
 * @param zone the time zone of dates, and of times without an offset (an IANA name). Undefined accepts only dates in UTC and
 *   times with an offset.
 * @param now UNIX seconds
 */
export function parseMoment(text: string, zone: string | undefined, now: number): number | undefined {
  try {
    const time = timeOf(text, zone, now)
    return time !== undefined && time >= EARLIEST && time < LATEST ? time : undefined
  } catch (error) {
    // There is no such date or time.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const EARLIEST = 0
/** The start of the year 10000. */
const LATEST = 253_402_300_800
const LOCAL = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?$/
const EXACT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/i

function timeOf(text: string, zone: string | undefined, now: number): number | undefined {
  const seconds = readSeconds(text, now)
  if (seconds !== undefined) return seconds
  if (EXACT.test(text)) return Temporal.Instant.from(text).epochMilliseconds / 1000
  if (!LOCAL.test(text) || (zone === undefined && /[T ]/.test(text))) return undefined
  return Temporal.PlainDateTime.from(text).toZonedDateTime(zone ?? 'UTC').epochMilliseconds / 1000
}

/**
 * A time in UNIX seconds, or how long ago it was (UNIX seconds); undefined for any other text. 0 means all times. Other numbers
 * before 2000 are no times, because `2026` and `20261101` are meant as dates.
 *
 * @param now UNIX seconds
 */
export function readSeconds(text: string, now: number): number | undefined {
  const seconds = /^\d{1,10}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (seconds === 0 || seconds >= EARLIEST_TIME) return seconds
  const ago = parseDuration(text)
  return ago === undefined ? undefined : Math.max(EARLIEST, now - ago)
}
