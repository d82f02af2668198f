import { definitionOf } from '../../alerts/definition-of.ts'
import type { Notification } from '../../alerts/notification.ts'
import { windowOf } from '../../alerts/signal.ts'
import { formatNumber, formatSeconds, formatShare, plural } from '../../text/format.ts'

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
 * The trend as bars, with its length: `▁▁▂▁▃▅▇█ last 8 × 15m`. The lowest bar is 0. The highest bar is the maximum or the
 * threshold, whichever is larger. `·` is a window with too few calls.
 */
export function trendOf({ trend, threshold, signal }: Notification): string | undefined {
  const window = windowOf(signal)
  if (trend === undefined || window === undefined || !trend.some((value) => Number.isFinite(value))) return undefined
  return `${sparkline(trend, threshold)} last ${trend.length} × ${formatSeconds(window)}`
}

/** The forecast for the month: `at this rate 104,000 min, 104% of the limit, by the end of the month`. */
export function forecastOf({ forecast, signal, kind }: Notification): string | undefined {
  // An alert that ended was about the previous month, and the new month is too young for a forecast.
  if (forecast === undefined || kind === 'resolved' || kind === 'expired' || !Number.isFinite(forecast))
    return undefined
  const definition = definitionOf(signal)
  return 'value' in definition ? definition.describeForecast?.(forecast, signal) : undefined
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
