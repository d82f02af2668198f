import { parseDuration } from '../schema/duration-text.ts'
import { timeIn } from './days.ts'

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
  if (/^\d{1,12}(\.\d+)?$/.test(text)) return Number(text)
  const ago = parseDuration(text)
  if (ago !== undefined) return now - ago
  if (!/^\d{4}-\d{2}-\d{2}(T|$)/.test(text)) return undefined
  const withOffset = /(Z|[+-]\d{2}:\d{2})$/i.test(text) && text.includes('T')
  if (!withOffset) return zone === undefined && text.includes('T') ? undefined : timeIn(zone ?? 'UTC', text)
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time / 1000
}
