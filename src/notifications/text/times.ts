import { formatTime } from '../../text/format.ts'

/** As messages have times: `2026-11-20 08:15:30 UTC`, or `08:15:30 UTC` of today. */
const TIME = /(?:(\d{4}-\d\d-\d\d) )?\b(\d\d:\d\d:\d\d) UTC/g
/** A time of today may be so far ahead: clocks differ (seconds). */
const AHEAD_SECONDS = 3600

/**
 * Replaces each time in a text.
 *
 * @param now the host's clock (UNIX seconds)
 * @param shown makes what is shown of a time (UNIX seconds) and its text
 */
export function replaceTimes(text: string, now: number, shown: (seconds: number, text: string) => string): string {
  return text.replaceAll(TIME, (whole, date: string | undefined, time: string) => {
    const seconds = Date.parse(`${date ?? formatTime(now).slice(0, 10)}T${time}Z`) / 1000
    if (Number.isNaN(seconds)) return whole
    // It is of yesterday, and midnight has passed since.
    return shown(date === undefined && seconds > now + AHEAD_SECONDS ? seconds - 86_400 : seconds, whole)
  })
}

/** Adds to each time that of a zone: `2026-11-20 08:15:30 UTC (09:15:30 Europe/Berlin)`, with the date if that is another one. */
export function withZone(text: string, now: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return replaceTimes(text, now, (seconds, whole) => {
    const local = format.format(seconds * 1000)
    const isSameDay = local.startsWith(formatTime(seconds).slice(0, 10))
    return `${whole} (${isSameDay ? local.slice(11) : local} ${timeZone})`
  })
}
