import { failureCount, windowStart } from '../ledger/failure-ratio.ts'
import { alertOf, type Alert, type LiveAlert } from './alert.ts'
import { firedThreshold, type AlertInstance, type Change } from './alert-instance.ts'
import { type Contributor, type Window, windowOf } from './signal.ts'
import { addValue, type ValueAt } from './values-over-time.ts'
import { definitionOf } from './definition-of.ts'
import { isMatched } from './groups.ts'
import type { Rule } from './rule.ts'
import { hasTooFew, type RuleValue } from './rule-value.ts'
import type { MonthOf, Poll } from './trigger.ts'

/** What explains the value of an alert. */
export type Evidence = {
  /** The top contributor to the failures. */
  contributor?: Contributor
  /** The values of the latest windows, oldest first; null for a window with too few calls. */
  trend?: readonly (number | null)[]
  /** For a budget: the share of the limit that the month will reach at this rate. */
  forecast?: number
  /** The window in which the measured calls finished, both ends included (UNIX seconds by the service's clock). */
  window?: Window
  /** For `poll_age`: why polls fail. */
  cause?: string
  /** For `poll_age`: when the last successful poll ended. */
  lastPoll?: number
  /** When the value was measured, if that was long ago. */
  asOf?: number
}

/** A change of one alert, with enough to decide whether to act. `threshold` is what the value was compared with. */
export type Notification = Alert & {
  kind: Change
  /** Why the alert expired. */
  expiredBecause?: 'too few calls' | 'rule removed' | 'rule changed' | 'target removed' | 'target reset'
  at: number
  /**
   * For the history: the threshold at which the alert fired, if the rule has another one now. When the alert ends, also
   * its values, and the start of the window in which it first fired.
   */
  episode?: { threshold: number; values?: readonly ValueAt[]; measuredFrom?: number }
}

/** The notification of a change of an alert. */
export function notificationOf(
  change: Pick<Notification, 'kind' | 'expiredBecause'>,
  live: LiveAlert,
  at: number,
): Notification {
  const alert = alertOf(live)
  const threshold = change.kind === 'resolved' ? alert.clear : alert.threshold
  return { ...alert, ...change, threshold, at, ...episodeOf(change, live.instance, at) }
}

function episodeOf(
  { kind }: Pick<Notification, 'kind'>,
  instance: AlertInstance,
  at: number,
): Pick<Notification, 'episode'> {
  const { rule, value, measuredFrom, values = [] } = instance
  const threshold = firedThreshold(instance)
  if (!hasEnded({ kind })) return threshold === rule.threshold ? {} : { episode: { threshold } }
  const whole = kind === 'resolved' ? addValue(values, [at, value], rule.breach) : values
  return { episode: { threshold, values: whole, ...(measuredFrom !== undefined && { measuredFrom }) } }
}

export function hasEnded({ kind }: Pick<Notification, 'kind'>): boolean {
  return kind === 'resolved' || kind === 'expired'
}

/** How many of the calls behind a ratio failed for the rule's reason. */
export function failuresOf({ signal, counts }: Pick<Notification, 'signal' | 'counts'>): number | undefined {
  return counts === undefined || !('reason' in signal) ? undefined : failureCount(counts, signal.reason)
}

/** Windows in a row that a notification shows. */
const TREND_WINDOWS = 8

/** How far back a rule reads finished calls (seconds), including the earlier windows that its messages show. */
export function reachOf({ signal, onlyIf }: Rule): number {
  const window = windowOf(signal) ?? 0
  return Math.max(TREND_WINDOWS * window, window + (onlyIf?.offset ?? 0))
}

/** What explains a value in a notification: the top contributor, the trend, the forecast. */
export function evidenceOf(
  rule: Rule,
  { labels, value }: Pick<RuleValue, 'labels' | 'value'>,
  poll: Poll,
  monthOf: MonthOf,
): Evidence {
  const { signal } = rule
  const definition = definitionOf(signal)
  if ('value' in definition) {
    const forecast = definition.forecast?.(value, poll, monthOf, signal)
    return forecast === undefined ? {} : { forecast }
  }
  const window = windowOf(signal)
  if (window === undefined) return {}
  const { now } = poll
  const group = { match: { ...rule.match, ...labels } }
  const between = (from: number, to: number) =>
    definition.calls(poll, { from, to }, signal).filter((call) => isMatched(group, call.labels))
  const last = { from: windowStart(window, poll), to: now }
  const latest = between(last.from, last.to)
  const earlier = Array.from({ length: TREND_WINDOWS - 1 }, (_, i) => {
    const to = now - (TREND_WINDOWS - 1 - i) * window
    return between(to - window, to)
  })
  const trend = [...earlier, latest].map((calls) => {
    const measured = definition.measure(calls, signal)
    return hasTooFew(signal, measured) ? null : measured.value
  })
  const contributor = trend.at(-1) === null ? undefined : definition.contributor?.(latest, rule)
  return { window: last, trend, ...(contributor === undefined ? {} : { contributor }) }
}
