import type { Rule } from '../rule.ts'
import { definitionOf } from '../definition-of.ts'
import type { Alert } from '../alert.ts'
import type { Notification } from '../notification.ts'
import { FAILURES } from '../../ledger/failure-ratio.ts'
import { RULE_LABELS, type RuleLabels } from '../groups.ts'
import { relativeTo } from '../relative.ts'
import { describedWindow, formatIn, isBeyond, withinText } from '../signal.ts'
import { formatNumber, formatSeconds, formatTime, plural } from '../../text/format.ts'

/** A value of the notification's signal, as people read it: `37.5%`, `12 calls`, `5m 30s`. */
export function formatValue({ signal }: Pick<Notification, 'signal'>, value: number): string {
  const definition = definitionOf(signal)
  const own = Number.isFinite(value) ? definition.format?.(value, signal) : undefined
  return own ?? formatIn(definition.unit, value)
}

/**
 * The alert in one line: the value, its relation to the threshold, and the number of calls. A resolution adds the worst value and the
 * duration.
 */
export function summaryOf(notification: Notification): string {
  const { kind, at, firingSince } = notification
  const result = resultOf(notification)
  if (kind === 'expired') return `expired, not resolved: ${result}`
  if (kind !== 'resolved') return result
  return `${result}; ${worstOf(notification).join(' ')}, lasted ${formatSeconds(at - firingSince)}`
}

/** The summary, for a line that already names the kind of the notification. */
export function detailsOf(notification: Notification): string {
  return notification.kind === 'expired' ? resultOf(notification) : summaryOf(notification)
}

/** An alert, and what is said of it. */
type Told = Alert & Pick<Notification, 'kind' | 'expiredBecause'>

/** The value and its relation to the threshold, without the past. For an expired alert, why it expired. */
export function resultOf(notification: Told): string {
  const { kind, expiredBecause = 'unknown reason', held } = notification
  const measured = definitionOf(notification.signal).describe(notification, notification.signal)
  if (kind === 'expired') return `${expiredBecause}. When last evaluated, ${measured}`
  if (held !== undefined) return `${noneText(notification)} since ${formatTime(held.since)}; before that, ${measured}`
  return `${measured}${comparisonOf(notification)}`
}

/** Why an alert has no value of now: `fewer than 20 calls`, `no successful poll`. */
export function noneText({ signal, onlyIf, held }: Pick<Alert, 'signal' | 'onlyIf' | 'held'>): string {
  if (held?.for === 'polls') return 'no successful poll'
  if ('minRequests' in signal) return `fewer than ${formatNumber(signal.minRequests)} requests`
  const isCompared = onlyIf !== undefined || relativeTo(signal) !== undefined
  // There may be too few calls of before.
  return 'minCalls' in signal && !isCompared
    ? `fewer than ${plural(signal.minCalls, 'call')}`
    : 'too few calls to compare'
}

/** The worst value and its name: `['peak', '62.5%']`. */
export function worstOf(notification: Notification): [name: string, value: string] {
  const { signal, breach, peak } = notification
  const { peakName = 'peak' } = definitionOf(signal)
  return [breach === 'above' ? peakName : 'lowest', formatValue(notification, peak)]
}

/** The alert's name, with its labels if the rule is grouped: `HighFailureRate (type=video)`. */
export function titleOf({ alert, labels }: Pick<Notification, 'alert' | 'labels'>): string {
  const own = formatLabels(labels)
  return own === '' ? alert : `${alert} (${own})`
}

/** Which calls the alert is about: `type=video, mode=call`; empty for all calls. */
export function callsLookedAt({ match, labels }: Pick<Notification, 'match' | 'labels'>): string {
  return formatLabels({ ...match, ...labels })
}

/**
 * The rule in plain words: `no successful poll for 5m`, `more than 30% of the calls in the last 15m failed, for 2m`, `no call finished in the last
 * 1h, if there were at least 5 calls 7d before`.
 */
export function ruleText(alert: Omit<Rule, 'name'> & { alert: string }): string {
  const { signal, for: lasting, onlyIf } = alert
  const breach = definitionOf(signal).inWords({ ...alert, name: alert.alert })
  const before =
    onlyIf && `, if there were at least ${plural(onlyIf.atLeast, 'call')} ${formatSeconds(onlyIf.offset)} before`
  return `${breach}${lasting === 0 ? '' : `, for ${formatSeconds(lasting)}`}${before ?? ''}`
}

/**
 * The rule's description with its placeholders filled in: {value} {threshold} {calls} {window} {labels}. Sentences with a number that is not
 * known are left out.
 *
 * @param of the numbers: those of the alert, if they are of now, or of several alerts
 */
export function descriptionOf(
  alert: Omit<Alert, 'alert'>,
  of: Pick<Alert, 'value'> & { calls?: number | undefined } = alert.held ? { value: NaN } : alert,
): string | undefined {
  const { description, threshold, signal, target } = alert
  const { value, calls } = of
  const window = describedWindow(signal)
  const fillings = new Map([
    ['value', Number.isFinite(value) ? formatValue(alert, value) : undefined],
    ['threshold', formatValue(alert, threshold)],
    ['calls', calls !== undefined ? formatNumber(calls) : Number.isFinite(value) ? 'n/a' : undefined],
    ['window', window === undefined ? 'n/a' : formatSeconds(window)],
    ['labels', callsLookedAt(alert) || `target=${target}`],
  ])
  const fill = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
      fillings.has(name) ? (fillings.get(name) ?? UNKNOWN) : whole,
    )
  const sentences = description?.split(/(?<=[.!?])(?=\s)/).map(fill)
  return (
    sentences
      ?.filter((sentence) => !sentence.includes(UNKNOWN))
      .join('')
      .trim() || undefined
  )
}

/** In place of a number that is not known. */
const UNKNOWN = '\0'

/**
 * The outcomes of the calls behind a ratio, the most frequent failure first: `rejected 12, unanswered 5, canceled 0, ended
 * 23`.
 */
export function splitOf({ counts }: Pick<Notification, 'counts'>): string | undefined {
  if (counts === undefined) return undefined
  const failures = FAILURES.toSorted((a, b) => counts[b] - counts[a])
  const shown = [...failures, 'ended' as const, ...(counts.other > 0 ? (['other'] as const) : [])]
  return shown.map((status) => `${status} ${formatNumber(counts[status])}`).join(', ')
}

function formatLabels(labels: RuleLabels): string {
  return RULE_LABELS.flatMap((label) => (labels[label] === undefined ? [] : [`${label}=${labels[label]}`])).join(', ')
}

/** `, above the threshold of 30%`. A firing alert may be within the threshold, but not cleared yet. */
function comparisonOf(notification: Told): string {
  const { kind, signal, breach, value, threshold } = notification
  const { unit } = definitionOf(signal)
  // The value before it already named the unit.
  const limit = unit === 'calls' ? formatNumber(threshold) : formatIn(unit, threshold)
  const plain = needsNoThreshold(notification)
  if (kind === 'resolved') return plain ? '' : `, back at or ${breach === 'above' ? 'below' : 'above'} ${limit}`
  if (!isBeyond(notification, value, threshold)) return `, ${withinText(breach, plain ? undefined : limit)}`
  if (plain) return ''
  const just = formatValue({ signal }, value) === formatValue({ signal }, threshold) ? 'just ' : ''
  return `, ${just}${breach} the threshold of ${limit}`
}

/** Whether the threshold would add nothing: no calls at all are too few in any case. */
function needsNoThreshold(notification: Told): boolean {
  const { signal, breach, value, threshold } = notification
  const definition = definitionOf(signal)
  if (definition.unit === 'calls' && breach === 'below' && value === 0 && threshold <= 1) return true
  return definition.needsNoThreshold?.(notification) === true
}
