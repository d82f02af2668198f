import { definitionOf } from '../../alerts/definition-of.ts'
import { EXPIRED, hasEnded, type Notification } from '../../alerts/notification.ts'
import { windowOf } from '../../alerts/signal.ts'
import { capital, formatNumber, formatSeconds, formatShare, plural, formatTime } from '../../text/format.ts'
import { callsLookedAt, formatValue, ruleText, splitOf, worstOf } from '../../alerts/text/alert-text.ts'

const BARS = '▁▂▃▄▅▆▇█'
/** A window with too few calls. */
const GAP = '·'

/** The top contributor to the failures: `type video: 14 of 17 failures (82%), in 22 of 40 calls (55%)`. */
export function contributorOf({ contributor }: Notification): string | undefined {
  if (contributor === undefined) return undefined
  const { label, value, failures, ofFailures, calls, ofCalls } = contributor
  const share = (part: number, whole: number) => formatShare(Math.round((100 * part) / whole) / 100)
  const ofAll = `${formatNumber(failures)} of ${formatNumber(ofFailures)} failures (${share(failures, ofFailures)})`
  return `${label} ${value}: ${ofAll}, in ${formatNumber(calls)} of ${plural(ofCalls, 'call')} (${share(calls, ofCalls)})`
}

/**
 * The trend as bars, with its length and the value of the window before: `▁▁▂▁▃▅▇█ last 8 × 15m; 21% 15m before`. The lowest bar is 0.
 * The highest bar is the maximum or the threshold, whichever is larger. `·` is a window with too few calls.
 */
export function trendOf({ trend, threshold, signal }: Notification): string | undefined {
  const [window, before] = [windowOf(signal), trend?.at(-2)]
  if (trend === undefined || window === undefined || !trend.some((value) => Number.isFinite(value))) return undefined
  const number = Number.isFinite(before) ? `; ${formatValue({ signal }, before!)} ${formatSeconds(window)} before` : ''
  return `${sparkline(trend, threshold)} last ${trend.length} × ${formatSeconds(window)}${number}`
}

/** The forecast for the month: `at this rate 104,000 min, 104% of the limit, by the end of the month`. */
export function forecastOf(notification: Notification): string | undefined {
  const { forecast, signal } = notification
  // An alert that ended was about the previous month, and the new month is too young for a forecast.
  if (forecast === undefined || hasEnded(notification) || !Number.isFinite(forecast)) return undefined
  const definition = definitionOf(signal)
  return 'value' in definition ? definition.describeForecast?.(forecast, signal) : undefined
}

/** `since 2026-11-20 08:00:00 UTC, session v1.us.123`. */
function oldestOf({ oldest }: Notification): string | undefined {
  return oldest && `since ${formatTime(oldest.began)}, session ${oldest.session}`
}

function sparkline(values: readonly (number | null)[], threshold: number): string {
  const known = values.flatMap((value) => (value !== null && Number.isFinite(value) ? value : []))
  const top = Math.max(...known, Number.isFinite(threshold) ? threshold : 0)
  return values.map((value) => (value === null || !Number.isFinite(value) ? GAP : bar(value, top))).join('')
}

function bar(value: number, top: number): string {
  const share = top > 0 ? value / top : 0
  return BARS[Math.min(BARS.length - 1, Math.max(0, Math.floor(share * BARS.length)))]!
}

/**
 * What is known of an alert besides its result, as names and values.
 *
 * @param now the host's clock (UNIX seconds)
 */
export function factsOf(notification: Notification, now: number): [name: string, value: string][] {
  const isOver = hasEnded(notification)
  const { held } = notification
  const facts: [name: string, value: string | undefined][] = [
    ...courseOf(notification, now),
    [held ? 'Outcomes then' : 'Outcomes', splitOf(notification)],
    ['Oldest call', isOver ? undefined : oldestOf(notification)],
    ['Last good poll', notification.lastPoll === undefined ? undefined : formatTime(notification.lastPoll)],
    ['Rule', isOver ? undefined : ruleText(notification)],
    ['Cause', isOver ? undefined : notification.cause],
    ['Top contributor', isOver || held ? undefined : contributorOf(notification)],
    ['Trend', held ? undefined : trendOf(notification)],
    ['Forecast', held ? undefined : forecastOf(notification)],
    ['Only calls with', callsLookedAt(notification) || undefined],
  ]
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
}

/** Since when it fires, and what happened since. */
function courseOf(notification: Notification, now: number): [name: string, value: string][] {
  const { kind, since, lastPoll = since, firingSince, at } = notification
  // While the notification waited, the alert may have continued.
  const untilNow = (from: number) => `${formatTime(from)} (${formatSeconds(Math.max(at, now) - from)})`
  if (kind === 'firing') return [['Since', untilNow(Math.min(since, lastPoll))]]
  const [worst, value] = worstOf(notification)
  return [
    ['Fired', formatTime(firingSince)],
    // Nobody knows how long an expired alert lasted.
    ...(kind === 'resolved' ? [['Lasted', formatSeconds(at - firingSince)] as [string, string]] : []),
    [capital(worst), value],
  ]
}

/** What a reader must know besides the numbers to decide whether to act. */
export function notesOf(notification: Notification, flaps: number): string[] {
  const { signal, expiredBecause, cause } = notification
  const why = cause === undefined ? 'Why: see `problem` at /api/v1/state, or the log. ' : ''
  const isBlind = !hasEnded(notification) && signal.name === 'poll_age'
  const notes = [
    flaps > 0 && flapsText(flaps),
    isBlind && `${why}Calls made meanwhile are counted when polls work again.`,
    expiredBecause && EXPIRED[expiredBecause],
  ]
  return notes.flatMap((note) => note || [])
}

export function flapsText(times: number): string {
  return `fired and resolved ${times === 1 ? 'once more' : `${times} more times`} meanwhile`
}
