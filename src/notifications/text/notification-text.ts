import { definitionOf } from '../../alerts/definition-of.ts'
import type { Notification } from '../../alerts/notification.ts'
import { RULE_LABELS, type RuleLabels } from '../../alerts/groups.ts'
import { describedWindow, formatIn, isBeyond } from '../../alerts/signal.ts'
import { formatNumber, formatSeconds, formatTime } from '../../text/format.ts'

/** A value of the notification's signal, as people read it: `37.5%`, `12 calls`, `5m 30s`. */
export function formatValue({ signal }: Pick<Notification, 'signal'>, value: number): string {
  const definition = definitionOf(signal)
  const own = Number.isFinite(value) ? definition.format?.(value, signal) : undefined
  return own ?? formatIn(definition.unit, value)
}

/**
 * The alert in one line: what is measured, how it stands to the threshold, and over how many calls; of a reminder since
 * when, of a resolution also how bad it was and how long it lasted.
 */
export function summaryOf(notification: Notification): string {
  const { kind, at, firingSince } = notification
  const result = resultOf(notification)
  if (kind === 'reminder') return `still firing since ${formatTime(firingSince)}: ${result}`
  if (kind === 'expired') return `expired, not resolved: ${result}`
  if (kind !== 'resolved') return result
  return `${result}; ${worstOf(notification).join(' ')}, lasted ${formatSeconds(at - firingSince)}`
}

/** The summary, for a line that says of what kind the notification is. */
export function detailsOf(notification: Notification): string {
  return notification.kind === 'expired' ? resultOf(notification) : summaryOf(notification)
}

/** What is measured and how it stands to the threshold, without what went before; of an expired alert why it expired. */
export function resultOf(notification: Notification): string {
  const { kind, expiredBecause = 'unknown reason' } = notification
  const measured = definitionOf(notification.signal).describe(notification, notification.signal)
  if (kind === 'expired') return `${expiredBecause}. When last evaluated, ${measured}`
  return `${measured}${comparisonOf(notification)}`
}

/** The worst value, and what it is called: `['peak', '62.5%']`. */
export function worstOf(notification: Notification): [name: string, value: string] {
  const { signal, breach, peak } = notification
  const { peakName = 'peak' } = definitionOf(signal)
  return [breach === 'above' ? peakName : 'lowest', formatValue(notification, peak)]
}

/** The name of the alert, with what distinguishes it from its siblings: `HighFailureRate (type=video)`. */
export function titleOf({ alert, labels }: Pick<Notification, 'alert' | 'labels'>): string {
  const own = formatLabels(labels)
  return own === '' ? alert : `${alert} (${own})`
}

/** Which calls the alert is about: `type=video, mode=call`; empty where it is about all. */
export function callsLookedAt({ match, labels }: Pick<Notification, 'match' | 'labels'>): string {
  return formatLabels({ ...match, ...labels })
}

/** The rule's description with its placeholders filled in: {value} {threshold} {calls} {window} {labels}. */
export function descriptionOf(notification: Notification): string | undefined {
  const { description, value, threshold, calls, signal, target } = notification
  const window = describedWindow(signal)
  const fillings = new Map([
    ['value', formatValue(notification, value)],
    ['threshold', formatValue(notification, threshold)],
    ['calls', calls === undefined ? 'n/a' : formatNumber(calls)],
    ['window', window === undefined ? 'n/a' : formatSeconds(window)],
    ['labels', callsLookedAt(notification) || `target=${target}`],
  ])
  return description?.replaceAll(/\{(\w+)\}/g, (whole, name: string) => fillings.get(name) ?? whole)
}

/** How the finished calls behind a ratio ended, failures first by number: `rejected 12, unanswered 5, canceled 0, ended 23`. */
export function splitOf({ counts }: Pick<Notification, 'counts'>): string | undefined {
  if (counts === undefined) return undefined
  const failures = (['unanswered', 'rejected', 'canceled'] as const).toSorted((a, b) => counts[b] - counts[a])
  const shown = [...failures, 'ended' as const, ...(counts.other > 0 ? (['other'] as const) : [])]
  return shown.map((status) => `${status} ${formatNumber(counts[status])}`).join(', ')
}

function formatLabels(labels: RuleLabels): string {
  return RULE_LABELS.flatMap((label) => (labels[label] === undefined ? [] : [`${label}=${labels[label]}`])).join(', ')
}

/** `, above the threshold of 30%`. A firing alert may be within the threshold, and not cleared yet. */
function comparisonOf(notification: Notification): string {
  const { kind, signal, breach, value, threshold } = notification
  const limit = limitOf(notification)
  const plain = needsNoThreshold(notification)
  if (kind === 'resolved') return plain ? '' : `, back at or ${breach === 'above' ? 'below' : 'above'} ${limit}`
  if (!isBeyond(notification, value, threshold)) {
    return plain ? ', but not resolved yet' : `, no longer ${breach} the threshold of ${limit}, but not resolved yet`
  }
  if (plain) return ''
  const just = formatValue({ signal }, value) === formatValue({ signal }, threshold) ? 'just ' : ''
  return `, ${just}${breach} the threshold of ${limit}`
}

/** Where the threshold would say nothing more: no call at all is too few. */
function needsNoThreshold(notification: Notification): boolean {
  const { signal, breach, value, threshold } = notification
  const definition = definitionOf(signal)
  if (definition.unit === 'calls' && breach === 'below' && value === 0 && threshold <= 1) return true
  return definition.needsNoThreshold?.(notification) === true
}

function limitOf({ signal, threshold }: Notification): string {
  const { unit } = definitionOf(signal)
  // The unit was just said.
  return unit === 'calls' ? formatNumber(threshold) : formatIn(unit, threshold)
}
