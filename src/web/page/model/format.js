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
 * The chosen zone; undefined is the zone of the reader.
 *
 * @type {{ name: string, offset: Intl.DateTimeFormat } | undefined}
 */
let chosen

/**
 * Chooses the zone of all times.
 *
 * @param {string} name of IANA; '' or one that the browser does not know chooses the zone of the reader
 */
export function chooseZone(name) {
  chosen = undefined
  try {
    if (name !== '')
      chosen = { name, offset: new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' }) }
  } catch {
    // The zone of the reader.
  }
}

/** The zone of all times, as IANA names it. */
export const zoneName = () => chosen?.name ?? new Intl.DateTimeFormat().resolvedOptions().timeZone

/**
 * How far the clocks of the zone are ahead of UTC (milliseconds).
 *
 * @param {Date} date
 */
function offsetAt(date) {
  if (chosen === undefined) return -date.getTimezoneOffset() * 60_000
  const text = chosen.offset.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d+):(\d+)/.exec(text) ?? []
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000)
}

/**
 * A time in the zone of the page as `2026-11-20T14:02:11.000`.
 *
 * @param {string | number} time ISO 8601, or milliseconds since 1970
 */
export function local(time) {
  const date = new Date(time)
  return new Date(date.getTime() + offsetAt(date)).toISOString().slice(0, -1)
}

/**
 * The moment at which the clocks of the zone show this (milliseconds since 1970); NaN of any other text.
 *
 * @param {string} text as an input of type datetime-local formats it
 */
export function momentOf(text) {
  const shown = Date.parse(`${text}Z`)
  if (Number.isNaN(shown)) return NaN
  // The offset may be another one before and after a change of the clocks.
  const near = shown - offsetAt(new Date(shown))
  return shown - offsetAt(new Date(near))
}

/**
 * The name of the zone at a time: `GMT+2`, `EST`, `UTC`.
 *
 * @param {string} iso
 */
export function zone(iso) {
  const format = new Intl.DateTimeFormat('en', { timeZoneName: 'short', ...(chosen && { timeZone: chosen.name }) })
  return format.formatToParts(new Date(iso)).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/**
 * `14:02:11` in the zone of the page.
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
  offsetAt(new Date(iso)) === offsetAt(new Date(now)) ? withDay(iso, now) : momentInZone(iso, now)

/**
 * `14:02:11 GMT+2`, or on another day than now `2026-11-20 14:02:11 GMT+2`.
 *
 * @param {string} iso
 * @param {string} now ISO 8601
 */
export const momentInZone = (iso, now) => `${withDay(iso, now)} ${zone(iso)}`

/**
 * `14:00–15:00 GMT+2`, or on another day than now `2026-11-20 14:00–15:00 GMT+2`; `14:00 GMT+2` of a moment.
 *
 * @param {string} since ISO 8601
 * @param {string} until ISO 8601, the same one for a moment
 * @param {string} now ISO 8601
 */
export function span(since, until, now) {
  const isMoment = since === until
  const isShort = Date.parse(until) - Date.parse(since) < 86_400_000
  const end = isShort ? clock(until) : `${local(until).slice(0, 10)} ${clock(until)}`
  return `${withDay(since, now).slice(0, -3)}${isMoment ? '' : `–${end.slice(0, -3)}`} ${zone(since)}`
}

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

/**
 * `45 s`, `12 min 5 s`, `3 h 0 min 5 s`.
 *
 * @param {number} seconds
 */
export function exactDuration(seconds) {
  const whole = Math.round(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  return `${hours > 0 ? `${hours} h ` : ''}${whole >= 60 ? `${minutes} min ` : ''}${whole % 60} s`
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
    .map(([name, value]) => `${name}${value?.startsWith('=~') ? '' : '='}${value}`)
    .join(', ')
