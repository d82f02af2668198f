import { failureCount } from '../ledger/failure-ratio.ts'
import { firedThreshold, type AlertInstance } from './alert-instance.ts'
import type { RuleLabels } from './groups.ts'
import type { Severity } from './match-keys.ts'
import type { Contributor, MessageValue, Window } from './signal.ts'
import type { Signal } from './signals.ts'
import { addValue, type ValueAt } from './values-over-time.ts'

/** A change of one alert, with enough to decide whether to act. Times are UNIX seconds. */
export type Notification = MessageValue & {
  /** Why an alert expired, without having resolved. */
  expiredBecause?: 'too few calls' | 'rule removed' | 'rule changed' | 'target removed' | 'target reset'
  /** Target and key name the alert. */
  target: string
  key: string
  alert: string
  severity: Severity
  labels: RuleLabels
  /** What the rule looks at, and how. */
  signal: Signal
  match: RuleLabels
  since: number
  firingSince: number
  peak: number
  at: number
  /** The top contributor to the failures. */
  contributor?: Contributor
  /** The values of the windows up to now, the oldest first; null where there were too few calls. */
  trend?: readonly (number | null)[]
  /** Of a budget: the share of the limit that the month will come to at this rate. */
  forecast?: number
  /** The calls that it was measured by finished in this window, both ends included (UNIX seconds by the service's clock). */
  window?: Window
  /** Of `poll_age`: why polls fail. */
  cause?: string
  /** When the value was measured, where that is long ago. */
  asOf?: number
  runbookUrl?: string
  description?: string
  /**
   * For the history: the threshold at which it fired, where the rule's is another one by now; of an end, how the value went, and when
   * the first calls finished that it was measured by.
   */
  episode?: { threshold: number; values?: readonly ValueAt[]; measuredFrom?: number }
}

/** What a notification has beside the instance's own state. */
export type Evidence = Pick<Notification, 'contributor' | 'trend' | 'forecast' | 'window' | 'cause' | 'asOf'>

/** The notification of a change that an instance just made; `latest` is the value that made it. */
export function notificationOf(
  change: Pick<Notification, 'kind' | 'expiredBecause'>,
  target: string,
  instance: AlertInstance,
  latest: Pick<AlertInstance, 'value' | 'calls' | 'counts'>,
  evidence: Evidence,
  at: number,
): Notification {
  const { key, labels, rule, since, firingSince, peak } = instance
  return {
    ...change,
    target,
    key,
    alert: rule.name,
    severity: rule.severity,
    labels,
    signal: rule.signal,
    match: rule.match,
    breach: rule.breach,
    value: latest.value,
    threshold: change.kind === 'resolved' ? rule.clear : rule.threshold,
    ...(latest.calls === undefined ? {} : { calls: latest.calls }),
    ...(latest.counts === undefined ? {} : { counts: latest.counts }),
    since,
    firingSince: firingSince ?? at,
    peak,
    at,
    ...evidence,
    ...(rule.runbookUrl === undefined ? {} : { runbookUrl: rule.runbookUrl }),
    ...(rule.description === undefined ? {} : { description: rule.description }),
    ...episodeOf(change, instance, latest.value, at),
  }
}

function episodeOf(
  { kind }: Pick<Notification, 'kind'>,
  instance: AlertInstance,
  value: number,
  at: number,
): Pick<Notification, 'episode'> {
  const { rule, measuredFrom, values = [] } = instance
  const threshold = firedThreshold(instance)
  if (!hasEnded({ kind })) return threshold === rule.threshold ? {} : { episode: { threshold } }
  const whole = kind === 'resolved' ? addValue(values, [at, value], rule.breach) : values
  return { episode: { threshold, values: whole, ...(measuredFrom !== undefined && { measuredFrom }) } }
}

export function hasEnded({ kind }: Pick<Notification, 'kind'>): boolean {
  return kind === 'resolved' || kind === 'expired'
}

/** How many of the calls behind a ratio failed in the way that the rule is about. */
export function failuresOf({ signal, counts }: Pick<Notification, 'signal' | 'counts'>): number | undefined {
  return counts === undefined || !('reason' in signal) ? undefined : failureCount(counts, signal.reason)
}
