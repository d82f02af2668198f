import { parseDuration } from '../schema/duration-text.ts'
import { timeIn } from './days.ts'

/** What {@link readMoment} reads, in a sentence. */
export const MOMENT =
  'a date such as 2026-11-01, a time such as 2026-11-20T08:00 or 2026-11-20T08:00:00Z, UNIX seconds, or how long ago, such as 7d'

/**
 * A moment as users write it (UNIX seconds); undefined for any other text.
 *
 * @param zone in which dates begin, and times without an offset are (an IANA name)
 * @param now UNIX seconds
 */
export function readMoment(text: string, zone: string, now: number): number | undefined {
  if (/^\d{1,12}(\.\d+)?$/.test(text)) return Number(text)
  const ago = parseDuration(text)
  if (ago !== undefined) return now - ago
  if (!/^\d{4}-\d{2}-\d{2}(T|$)/.test(text)) return undefined
  const withOffset = /(Z|[+-]\d{2}:\d{2})$/i.test(text) && text.includes('T')
  if (!withOffset) return timeIn(zone, text)
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time / 1000
}
