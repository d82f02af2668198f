import { parseDuration } from '../schema/duration-text.ts'

/** What {@link readMoment} reads, in a sentence: with a zone, and without one. */
export const MOMENT =
  'a date such as 2026-11-01, a time such as 2026-11-20T08:00 or 2026-11-20T08:00:00Z, UNIX seconds, or how long ago, such as 7d'
export const MOMENT_IN_UTC =
  'a time: ISO 8601 in UTC like 2026-11-20T08:00:00Z or 2026-11-20, UNIX seconds, or how long ago, such as 7d'

/**
 * A moment as users write it (UNIX seconds); undefined for any other text.
 *
 * @param zone in which dates begin, and times without an offset are (an IANA name); undefined takes dates as UTC, and no time
 * without an offset
 * @param now UNIX seconds
 */
export function readMoment(text: string, zone: string | undefined, now: number): number | undefined {
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
/** The beginning of the year 10000. */
const LATEST = 253_402_300_800
const LOCAL = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?$/
const EXACT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/i

function timeOf(text: string, zone: string | undefined, now: number): number | undefined {
  if (/^\d{1,12}(\.\d+)?$/.test(text)) return Number(text)
  const ago = parseDuration(text)
  if (ago !== undefined) return Math.max(EARLIEST, now - ago)
  if (EXACT.test(text)) return Temporal.Instant.from(text).epochMilliseconds / 1000
  if (!LOCAL.test(text) || (zone === undefined && /[T ]/.test(text))) return undefined
  return Temporal.PlainDateTime.from(text).toZonedDateTime(zone ?? 'UTC').epochMilliseconds / 1000
}
