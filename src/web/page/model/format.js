/**
 * Removes control characters, and characters that hide text or change its direction, from a text of the service.
 *
 * @param {string} text
 */
export const plain = (text) => text.replaceAll(/[\p{Cf}\p{Cc}]/gu, '')

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const oneDigit = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** @param {number} value */
export const count = (value) => whole.format(value)

/** @param {number} minutes */
export const minutes = (minutes) => oneDigit.format(minutes)

/** @param {number | undefined} ratio 0 to 1 */
export const percent = (ratio) => (ratio === undefined ? '–' : `${oneDigit.format(ratio * 100)}%`)

/**
 * A time in the reader's zone as `2026-11-20T14:02:11.000`.
 *
 * @param {string | number} time ISO 8601, or milliseconds since 1970
 */
export function local(time) {
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, -1)
}

/**
 * The name of the reader's zone at a time: `GMT+2`, `EST`, `UTC`.
 *
 * @param {string} iso
 */
export function zone(iso) {
  const parts = new Intl.DateTimeFormat('en', { timeZoneName: 'short' }).formatToParts(new Date(iso))
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/**
 * `14:02:11` in the reader's zone.
 *
 * @param {string} iso
 */
export const clock = (iso) => local(iso).slice(11, 19)

/**
 * `14:02:11`, or on another day than now `2026-11-20 14:02:11`. For a table whose heading has the zone of now: another
 * zone, as before a change to daylight saving time, is added.
 *
 * @param {string} iso
 * @param {string} now ISO 8601
 */
export const moment = (iso, now) =>
  new Date(iso).getTimezoneOffset() === new Date(now).getTimezoneOffset() ? withDay(iso, now) : momentInZone(iso, now)

/**
 * `14:02:11 GMT+2`, or on another day than now `2026-11-20 14:02:11 GMT+2`.
 *
 * @param {string} iso
 * @param {string} now ISO 8601
 */
export const momentInZone = (iso, now) => `${withDay(iso, now)} ${zone(iso)}`

/**
 * @param {string} iso
 * @param {string} now
 */
function withDay(iso, now) {
  const day = local(iso).slice(0, 10)
  return day === local(now).slice(0, 10) ? clock(iso) : `${day} ${clock(iso)}`
}

/**
 * `45 s`, `4 min`, `3.5 h`, `2.0 d`.
 *
 * @param {number} seconds
 */
export function duration(seconds) {
  if (seconds < 100) return `${Math.round(seconds)} s`
  if (seconds < 100 * 60) return `${Math.round(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${oneDigit.format(seconds / 3600)} h`
  return `${oneDigit.format(seconds / 86_400)} d`
}

/** @type {Record<string, (value: number) => string>} */
const BY_SIGNAL = {
  failure_ratio: percent,
  budget_minutes: percent,
  answer_delay_p95: duration,
  duration_mean: duration,
  poll_age: duration,
  minutes,
}

/**
 * A value of an alert in the unit of its signal.
 *
 * @param {string} signal
 * @param {number | null} value
 */
export function valueOf(signal, value) {
  if (value === null) return '–'
  return (BY_SIGNAL[signal] ?? count)(value)
}

/**
 * `mode=call, type=video`
 *
 * @param {Readonly<Record<string, string | undefined>>} labels
 */
export const labelText = (labels) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
