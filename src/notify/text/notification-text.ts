import { failuresOf, type Notification } from '../../alerts/notification.ts'
import { RULE_LABELS, type RuleLabels } from '../../alerts/rule.ts'

/** Signals whose value is a number of calls. */
const COUNTS: ReadonlySet<string> = new Set(['calls', 'calls_started', 'in_progress', 'stuck_calls'])

/** A value of the notification's signal, as people read it: `37.5 %`, `12 calls`, `5m 30s`. */
export function formatValue({ signal }: Pick<Notification, 'signal'>, value: number): string {
  if (!Number.isFinite(value)) return 'unknown'
  switch (signal.name) {
    case 'failure_ratio':
      return formatShare(value)
    case 'budget_minutes':
      return `${formatShare(value)} (${formatNumber(value * signal.limit, 0)} of ${formatNumber(signal.limit)} min)`
    case 'minutes':
      return `${formatNumber(value)} min`
    case 'answer_delay_p95':
    case 'duration_mean':
    case 'poll_age':
      return formatSeconds(value)
    default:
      return `${formatNumber(value)} ${value === 1 ? 'call' : 'calls'}`
  }
}

/**
 * The alert in one line: what is measured, how it stands to the threshold, and over how many calls; of a reminder since
 * when, of a resolution also how bad it was and how long it lasted.
 */
export function summaryOf(notification: Notification): string {
  const { kind, at, firingSince } = notification
  const verdict = verdictOf(notification)
  if (kind === 'reminder') return `still firing since ${formatTime(firingSince)}: ${verdict}`
  if (kind === 'closed') return `closed, not resolved: ${verdict}`
  if (kind !== 'resolved') return verdict
  return `${verdict}; ${worstOf(notification).join(' ')}, lasted ${formatSeconds(at - firingSince)}`
}

/** What is measured and how it stands to the threshold, without what went before; of a closed alert why it was closed. */
export function verdictOf(notification: Notification): string {
  const { kind, closedBecause = 'no verdict' } = notification
  const measured = measuredOf(notification)
  if (kind === 'closed') return `${closedBecause}. When last judged, ${measured}`
  return `${measured}${comparisonOf(notification)}`
}

/** The worst value, and what it is called: `['peak', '62.5 %']`. */
export function worstOf(notification: Notification): [name: string, value: string] {
  const { signal, breach, peak } = notification
  const high = signal.name === 'poll_age' ? 'longest gap' : 'peak'
  return [breach === 'above' ? high : 'lowest', formatValue(notification, peak)]
}

/** The name of the alert, with what tells it from its siblings: `HighFailureRate (type=video)`. */
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
  const window = 'window' in signal ? signal.window : 'longerThan' in signal ? signal.longerThan : undefined
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

/** Seconds as `45s`, `5m`, `1h 30m`, `2d 3h`: the largest unit and the next smaller one. */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'unknown'
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const
  const rounded = Math.max(0, Math.round(seconds))
  const largest = units.findIndex(([, size]) => rounded >= size)
  if (largest === -1) return '0s'
  let rest = rounded
  const counts = units.slice(largest, largest + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
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

/** `81,204` or `37.5`, with that many decimals at most. */
export function formatNumber(value: number, decimals = 1): string {
  if (!Number.isFinite(value)) return 'unknown'
  return value.toLocaleString('en-US', { maximumFractionDigits: decimals, signDisplay: 'negative' })
}

/** A share, 0 to 1, as `42.5 %`. */
export function formatShare(share: number): string {
  return `${formatNumber(share * 100)} %`
}

function formatLabels(labels: RuleLabels): string {
  return RULE_LABELS.flatMap((label) => (labels[label] === undefined ? [] : [`${label}=${labels[label]}`])).join(', ')
}

/** `17 of 40 calls that finished in the last 15m failed: 42.5 %`, and its like. */
function measuredOf(notification: Notification): string {
  const { signal, value, counts, calls = counts?.total ?? 0 } = notification
  const is = formatValue(notification, value)
  const inWindow = 'window' in signal ? `in the last ${formatSeconds(signal.window)}` : ''
  switch (signal.name) {
    case 'failure_ratio': {
      const failures = failuresOf(notification) ?? Math.round(value * calls)
      const failed = signal.reason === 'any' ? 'failed' : `were ${signal.reason}`
      const all = `${formatNumber(calls)} ${calls === 1 ? 'call' : 'calls'}`
      return `${formatNumber(failures)} of ${all} that finished ${inWindow} ${failed}: ${is}`
    }
    case 'calls':
      return `${some(value)} finished ${inWindow}`
    case 'calls_started':
      return `${some(value)} began ${inWindow}`
    case 'minutes': {
      const media = signal.media === 'both' ? 'audio and video' : signal.media
      if (calls === 0) return `no call finished ${inWindow}: ${is} of ${media}`
      return `${some(calls)} that finished ${inWindow} had ${is} of ${media}`
    }
    case 'in_progress':
      return `${some(value)} ${value > 1 ? 'are' : 'is'} open now`
    case 'answer_delay_p95':
      return `answer delay of ${some(calls, 'answered ')} that finished ${inWindow}: ${is} at the 95th percentile`
    case 'duration_mean':
      return `mean duration of ${some(calls)} that ended ${inWindow}: ${is}`
    case 'stuck_calls': {
      return `${some(value)} ${value > 1 ? 'have' : 'has'} been open for longer than ${formatSeconds(signal.longerThan)}`
    }
    case 'poll_age':
      return isPast(notification) || notification.kind === 'closed' ? `no good poll for ${is}` : 'polls are good again'
    default: {
      const used = formatNumber(value * signal.limit, 0)
      return `${used} of ${formatNumber(signal.limit)} participant minutes of this month are used: ${formatShare(value)}`
    }
  }
}

/** `no call`, `1 call`, `12 calls`. */
function some(count: number, kind = ''): string {
  if (count === 0) return `no ${kind}call`
  return `${formatNumber(count)} ${kind}${count === 1 ? 'call' : 'calls'}`
}

/** `, above the threshold of 30 %`. A firing alert may be back past the threshold, and not yet past `clear`. */
function comparisonOf(notification: Notification): string {
  const { kind, signal, breach, value, threshold } = notification
  const limit = limitOf(notification)
  const plain = needsNoThreshold(notification)
  if (kind === 'resolved') return plain ? '' : `, back at or ${breach === 'above' ? 'below' : 'above'} ${limit}`
  if (!isPast(notification)) {
    return plain ? ', but not resolved yet' : `, no longer ${breach} the threshold of ${limit}, but not resolved yet`
  }
  if (plain) return ''
  const just = formatValue({ signal }, value) === formatValue({ signal }, threshold) ? 'just ' : ''
  return `, ${just}${breach} the threshold of ${limit}`
}

/** Where the threshold would say nothing more: any stuck call is one too many, and no call at all is too few. */
function needsNoThreshold(notification: Notification): boolean {
  const { signal, breach, value, threshold } = notification
  if (signal.name === 'poll_age') return !isPast(notification)
  if (signal.name === 'stuck_calls' && breach === 'above') return threshold === 0
  return COUNTS.has(signal.name) && breach === 'below' && value === 0 && threshold <= 1
}

function limitOf(notification: Notification): string {
  const { signal, threshold } = notification
  if (signal.name === 'budget_minutes') return formatShare(threshold)
  // The unit was just said.
  return COUNTS.has(signal.name) ? formatNumber(threshold) : formatValue(notification, threshold)
}

function isPast({ breach, value, threshold }: Notification): boolean {
  return breach === 'above' ? value > threshold : value < threshold
}
