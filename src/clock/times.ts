/** The start of the year 2000 (UNIX seconds): an earlier number is no time of a call or a report. */
export const EARLIEST_TIME = 946_684_800

/** Times that were formatted recently: the events of a poll share most of theirs. */
const formatted = new Map<number, string>()
const MAX_FORMATTED = 5000

/** Formats UNIX seconds as ISO 8601 in UTC, the format of all times that callwatch shows to programs. */
export function isoTime(seconds: number): string {
  const before = formatted.get(seconds)
  if (before !== undefined) return before
  const text = new Date(Math.round(seconds * 1000)).toISOString()
  if (formatted.size === MAX_FORMATTED) formatted.clear()
  formatted.set(seconds, text)
  return text
}

/** The only format of a date that HTTP senders may use (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** An HTTP date in UNIX seconds; undefined for anything else, which `Date.parse` would guess. */
export function readHttpDate(value: string | undefined): number | undefined {
  const text = value?.trim() ?? ''
  const seconds = HTTP_DATE.test(text) ? Date.parse(text) / 1000 : Number.NaN
  return Number.isFinite(seconds) ? seconds : undefined
}

/** Retry-After in seconds from now (RFC 9110 §10.2.3: delay-seconds or a date); undefined if it is neither. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const date = readHttpDate(text)
  return date === undefined ? undefined : Math.max(0, date - now)
}

/**
 * A time or length (seconds) as it is shown and kept: no clock is more exact, and what is evaluated again must be the very same. The
 * difference of two UNIX times has noise of floating point.
 */
export function wholeMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
