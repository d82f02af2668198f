/** Seconds as `45s`, `5m`, `1h 30m`, `2d 3h`: the largest unit and the next ones, `most` units in all. */
export function formatSeconds(seconds: number, most = 2): string {
  if (!Number.isFinite(seconds)) return 'unknown'
  const units = [
    ['d', 86_400, Infinity],
    ['h', 3600, 24],
    ['m', 60, 60],
    ['s', 1, 60],
  ] as const
  const rounded = Math.max(0, Math.round(seconds))
  const largest = units.findIndex(([, size]) => rounded >= size)
  if (largest === -1) return '0s'
  const counts = units.slice(largest, largest + most).map(([unit, size, inLarger]) => {
    const count = Math.floor(rounded / size) % inLarger
    return count === 0 ? '' : `${count}${unit}`
  })
  return counts.filter(Boolean).join(' ')
}

/** A time (UNIX seconds) as `2026-11-20 08:15:30 UTC`. */
export function formatTime(seconds: number): string {
  const time = new Date(Math.floor(seconds) * 1000)
  if (Number.isNaN(time.getTime())) return 'an unknown time'
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** A time (UNIX seconds) as `08:15:30 UTC`; with its date if that is not the date of now. */
export function clockOf(seconds: number, now: number): string {
  const [text, today] = [formatTime(seconds), formatTime(now).slice(0, 10)]
  return text.startsWith(today) ? text.slice(-12) : text
}

/** A reason without counts and durations, which differ from target to target; a status is a reason. */
export function withoutNumbers(reason: string): string {
  return reason.replaceAll(/(?<!answered )\b\d[\d,.]*(?: ?[smhd]\b)? ?/g, '')
}

/** `81,204` or `37.5`, with at most this many decimals. */
export function formatNumber(value: number, decimals = 1): string {
  if (!Number.isFinite(value)) return 'unknown'
  formats[decimals] ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: decimals, signDisplay: 'negative' })
  return formats[decimals].format(value)
}

/** Formats by their decimals. Creating one takes much longer than using it. */
const formats: Intl.NumberFormat[] = []

/** A share from 0 to 1 as `42.5%`. */
export function formatShare(share: number): string {
  return `${formatNumber(share * 100)}%`
}

/** A ratio to what is usual as `57% below`, `20% above`, `equal to`; a difference of two shares as `30 points above`. */
export function formatRelative(value: number, isDifference: boolean): string {
  const by = isDifference ? value : value - 1
  if (Math.abs(by) < 0.0005) return 'equal to'
  const size = isDifference ? `${formatNumber(Math.abs(by) * 100)} points` : formatShare(Math.abs(by))
  return `${size} ${by < 0 ? 'below' : 'above'}`
}

/** A ratio to what is usual as `43% of usual`; a difference of two shares as `+30 points`. */
export function formatOfUsual(value: number, isDifference: boolean): string {
  const points = `${value < 0 ? '-' : '+'}${formatNumber(Math.abs(value) * 100)} points`
  return isDifference ? points : `${formatShare(value)} of usual`
}

/** `0 alerts`, `1 alert`, `1,200 alerts`. */
export function plural(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`
}

/**
 * `75% of 40 ringing calls failed in 15 minutes, mostly unanswered`, or `75% of 40 calls were rejected in an hour`.
 *
 * @param of which calls these are, by their labels
 */
export function failText(
  calls: { total: number; failed: number; outcome?: string | null; of: CallLabels; window?: number | undefined },
  reason = 'any',
): string {
  const { total, failed, outcome, of, window } = calls
  const inWindow = window === undefined ? '' : ` in ${spelledSeconds(window)}`
  const what = reason === 'any' ? 'failed' : `were ${reason}`
  const mostly = reason === 'any' && outcome ? `, mostly ${outcome}` : ''
  return `${formatShare(failed / total)} of ${formatNumber(total)} ${callsWith(of, total)} ${what}${inWindow}${mostly}`
}

export type CallLabels = { type?: string; mode?: string; receiver_type?: string }

/** Calls with these labels: `ringing video calls`, `meetings`, `calls to groups`. */
export function callsWith({ type, mode, receiver_type: receiver }: CallLabels, count = Infinity): string {
  const noun = mode === 'meet' ? 'meeting' : 'call'
  const kind = { call: 'ringing', meet: undefined, presenter: 'presenter', other: 'other' }[mode ?? 'meet'] ?? ''
  const to = receiver === undefined ? '' : ` to ${receiver === 'other' ? 'others' : `${receiver}s`}`
  return `${[kind, type].filter(Boolean).join(' ')} ${noun}${count === 1 ? '' : 's'}${to}`.trim()
}

/** `15 minutes`, `an hour`, `90 seconds`; what is no whole number of these as `1h 30m`. */
export function spelledSeconds(seconds: number): string {
  const units = [
    ['an hour', 'hours', 3600],
    ['a minute', 'minutes', 60],
    ['a second', 'seconds', 1],
  ] as const
  const [one, several, size] = units.find(([, , each]) => seconds % each === 0) ?? units[2]
  const number = seconds / size
  return number === 1 ? one : number > 90 ? formatSeconds(seconds) : `${formatNumber(number)} ${several}`
}

/** `no call`, `1 call`, `12 calls`; with a kind: `12 answered calls`. */
export function someCalls(count: number, kind = ''): string {
  return count === 0 ? `no ${kind}call` : plural(count, `${kind}call`)
}

/** The progress of an initial sync, as a sentence without its full stop. */
export function formatSync(sync: {
  pagesRead: number
  pages: number | null | undefined
  secondsLeft?: number | null | undefined
}): string {
  const { pagesRead, secondsLeft } = sync
  if (pagesRead === 0) return 'the initial sync begins'
  const left = secondsLeft == null ? '' : `, and takes about ${formatSeconds(secondsLeft)} more`
  return `the initial sync has read ${pagesRead} of ${sync.pages ?? 'an unknown number of'} pages${left}`
}

/** @param of how many pages there are at most, if that is known */
export const formatReading = (page: number, of?: number) =>
  of === undefined ? `reading page ${page}` : `reading page ${page} of at most ${of}`

export const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** @param seconds how long an answer takes */
export const formatSlow = (seconds: number) => `the service is slow: ${formatSeconds(seconds)} an answer`

/** What it means that calls have times in a form that callwatch does not know. @param time as the service sent it, as JSON */
export function formatUnreadTime(time: string): string {
  return `times as ${time.slice(0, 40)} cannot be read: these calls count without a beginning, a duration and an answer delay`
}
