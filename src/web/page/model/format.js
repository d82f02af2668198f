/**
 * A text of the service's: without controls, and without characters that hide text or turn its direction.
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
export const percent = (ratio) => (ratio === undefined ? '–' : `${oneDigit.format(ratio * 100)}\u00a0%`)

/**
 * `14:02:11` in UTC.
 *
 * @param {string} iso
 */
export const clock = (iso) => iso.slice(11, 19)

/**
 * `14:02:11`, and with the day before it where that is another one than now.
 *
 * @param {string} iso
 * @param {string} now ISO 8601
 */
export const moment = (iso, now) =>
  iso.slice(0, 10) === now.slice(0, 10) ? clock(iso) : `${iso.slice(0, 10)} ${clock(iso)}`

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
 * A value of an alert, in what its signal is measured in.
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
