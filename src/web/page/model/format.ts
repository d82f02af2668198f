import { formatNumber, formatOfUsual, formatSeconds, formatShare, plural } from '../../../text/format.ts'

/** The chosen zone; undefined is the zone of the reader. */
let chosen: { name: string; offset: Intl.DateTimeFormat } | undefined

/**
 * Chooses the zone of all times.
 *
 * @param name of IANA; '' or one that the browser does not know chooses the zone of the reader
 */
export function chooseZone(name: string) {
  chosen = undefined
  try {
    if (name !== '')
      chosen = { name, offset: new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' }) }
  } catch {
    // The zone of the reader.
  }
}

/** The zone of the reader, as IANA names it. A browser without one, as in some containers, shows UTC under a name that no format takes. */
export const readerZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone.replace('Etc/Unknown', 'UTC')

/** The zone of all times, as IANA names it. */
export const zoneName = () => chosen?.name ?? readerZone()

/** How far the clocks of the zone are ahead of UTC (milliseconds). */
function offsetAt(date: Date) {
  if (chosen === undefined) return -date.getTimezoneOffset() * 60_000
  const text = chosen.offset.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d+):(\d+)/.exec(text) ?? []
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000)
}

/**
 * A time in the zone of the page as `2026-11-20T14:02:11.000`.
 *
 * @param time ISO 8601, or milliseconds since 1970
 */
export function local(time: string | number) {
  const date = new Date(time)
  return new Date(date.getTime() + offsetAt(date)).toISOString().slice(0, -1)
}

/**
 * The moment at which the clocks of the zone show this (milliseconds since 1970); NaN of any other text.
 *
 * @param text as an input of type datetime-local formats it
 */
export function momentOf(text: string) {
  const shown = Date.parse(`${text}Z`)
  if (Number.isNaN(shown)) return NaN
  // As the server: of two such moments the earlier one, and of none as if the clocks had not changed.
  const times = [-1, 1].map((days) => shown - offsetAt(new Date(shown + days * 86_400_000)))
  return times.find((time) => time + offsetAt(new Date(time)) === shown) ?? times[0]!
}

/** The same time of the day a week earlier, or nearly: by whole steps (UNIX seconds; `step` in seconds). */
export function weekBefore(time: number, step = 1) {
  const shown = Date.parse(`${local(time * 1000)}Z`) - 7 * 86_400_000
  const passed = time - momentOf(new Date(shown).toISOString().slice(0, -1)) / 1000
  return time - Math.round(passed / step) * step
}

/** For a zone. Creating a format takes much longer than using it. */
let shortNames: { key: string; format: Intl.DateTimeFormat } | undefined

/** The name of the zone at a time: `GMT+2`, `EST`, `UTC`. */
export function zone(iso: string) {
  const key = `${chosen?.name}|${new Date(0).toString()}`
  if (shortNames?.key !== key) {
    const format = new Intl.DateTimeFormat('en', { timeZoneName: 'short', timeZone: zoneName() })
    shortNames = { key, format }
  }
  return shortNames.format.formatToParts(new Date(iso)).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** `14:02:11` in the zone of the page. */
export const clock = (iso: string) => local(iso).slice(11, 19)

/**
 * `14:02:11`, or on another day than now `2026-11-20 14:02:11`. For a table whose heading has the zone of now: another
 * zone, as before a change to daylight saving time, is added.
 *
 * @param now ISO 8601
 */
export const moment = (iso: string, now: string) =>
  offsetAt(new Date(iso)) === offsetAt(new Date(now)) ? withDay(iso, now) : momentInZone(iso, now)

/** The same without seconds. */
export const minute = (iso: string, now: string) => moment(iso, now).replace(/:\d\d(?= |$)/, '')

/**
 * `14:02:11 GMT+2`, or on another day than now `2026-11-20 14:02:11 GMT+2`.
 *
 * @param now ISO 8601
 */
export const momentInZone = (iso: string, now: string) => `${withDay(iso, now)} ${zone(iso)}`

/**
 * `14:00–15:00 GMT+2`, or on another day than now `2026-11-20 14:00–15:00 GMT+2`; `14:00 GMT+2` of a moment.
 *
 * @param since ISO 8601
 * @param until ISO 8601, the same one for a moment
 * @param now ISO 8601
 */
export function span(since: string, until: string, now: string) {
  const isMoment = since === until
  const isShort = Date.parse(until) - Date.parse(since) < 86_400_000
  const end = isShort ? clock(until) : `${local(until).slice(0, 10)} ${clock(until)}`
  return `${withDay(since, now).slice(0, -3)}${isMoment ? '' : `–${end.slice(0, -3)}`} ${zone(since)}`
}

function withDay(iso: string, now: string) {
  const day = local(iso).slice(0, 10)
  return day === local(now).slice(0, 10) ? clock(iso) : `${day} ${clock(iso)}`
}

/**
 * A text of the server, whose times are in UTC, with those of the zone of the page.
 *
 * @param now ISO 8601: a time without a date is of the day of now
 */
export const inZone = (text: string, now: string) =>
  text.replaceAll(/(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d:\d\d) UTC/g, (_, day: string | undefined, time: string) =>
    momentInZone(`${day ?? now.slice(0, 10)}T${time}Z`, now),
  )

/** A time (UNIX seconds) as ISO 8601, of a whole second without decimals. */
export const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

/** How long it is from one time to another (seconds, ISO 8601). */
export const secondsBetween = (since: string, until: string) =>
  Math.max(0, Date.parse(until) - Date.parse(since)) / 1000

/** The unit of a signal's values; the others are numbers of calls or minutes. */
const UNITS: Record<string, 'ratio' | 'seconds'> = {
  failure_ratio: 'ratio',
  budget_minutes: 'ratio',
  answer_delay_p95: 'seconds',
  duration_mean: 'seconds',
  short_calls: 'ratio',
  not_joined: 'ratio',
  recorded: 'ratio',
  poll_age: 'seconds',
  request_errors: 'ratio',
}

/** What an alert measures. The values of a rule with `relative_to` are ratios to the usual or, of shares, differences. */
type Measured = { signal: string; compared?: unknown; relative_to_seconds?: number | undefined }

/** The unit in which a chart shows an alert. */
export function unitOf({ signal, compared, relative_to_seconds: offset }: Measured) {
  const unit = UNITS[signal] ?? 'number'
  if (compared === undefined && offset === undefined) return unit
  return unit === 'ratio' ? 'difference' : 'relative'
}

const FORMATS = {
  ratio: formatShare,
  seconds: (value: number) => formatSeconds(value),
  number: (value: number) => formatNumber(value),
  relative: (value: number) => formatOfUsual(value, false),
  difference: (value: number) => formatOfUsual(value, true),
}

/** A value of an alert in its unit. */
export const valueOf = (measured: Measured, value: number | null) =>
  value === null ? '–' : FORMATS[unitOf(measured)](value)

type Labels = Readonly<Record<string, string | undefined>>

/** `mode=call, type=video` */
export const labelText = (labels: Labels) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}${value?.startsWith('=~') ? '' : '='}${value}`)
    .join(', ')

/** What tells an alert from others: its name, its target and its labels, if given. */
export const named = ({ alert = '', target, labels }: { alert?: string; target: string; labels: Labels }) =>
  [alert, target, labelText(labels)].filter(Boolean).join(', ')

/** `a, b, c and 297 more targets`: three of them at most. */
export function someOf(names: readonly string[], noun: string) {
  const more = names.length - MOST_NAMES
  return `${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${plural(more, `more ${noun}`)}` : ''}`
}

const MOST_NAMES = 3
