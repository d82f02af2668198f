import { failureCount } from '../ledger/failure-ratio.ts'
import type { FinishedCounts } from '../ledger/finished-calls.ts'
import type { AlertInstance, Change } from './alert-instance.ts'
import type { Rule, RuleLabel, RuleLabels, Severity, Signal } from './rule.ts'

/** What is said of one alert, to whoever is to hear it: enough to decide whether to act. Times are UNIX seconds. */
export type Notification = {
  kind: Change
  /** Why an alert was closed without having resolved. */
  closedBecause?: 'too few calls' | 'rule removed' | 'rule changed' | 'target removed' | 'target reset'
  /** Target and key name the alert. */
  target: string
  key: string
  alert: string
  severity: Severity
  labels: RuleLabels
  /** What the rule looks at, and how. */
  signal: Signal
  match: RuleLabels
  breach: Rule['breach']
  value: number
  /** What the value was compared with: the threshold for a firing alert, `clear` for a resolved one. */
  threshold: number
  /** How many calls are behind the value. */
  calls?: number
  counts?: FinishedCounts
  since: number
  firingSince: number
  peak: number
  at: number
  /** Who has the largest part in the failures. */
  contributor?: Contributor
  /** The values of the windows up to now, the oldest first; null where there were too few calls. */
  trend?: readonly (number | null)[]
  /** Of a budget: the share of the limit that the month will come to at this rate. */
  forecast?: number
  /** When the value was judged, where that is long ago. */
  asOf?: number
  runbookUrl?: string
  description?: string
}

/** So many of the failures had this label value, and so many of all calls. */
export type Contributor = {
  label: RuleLabel
  value: string
  failures: number
  ofFailures: number
  calls: number
}

/** What a notification says beside the instance's own state. */
export type Evidence = Pick<Notification, 'contributor' | 'trend' | 'forecast' | 'asOf'>

/** The notification of a change that an instance just made; `latest` is the value that made it. */
export function notificationOf(
  change: Pick<Notification, 'kind' | 'closedBecause'>,
  target: string,
  { key, labels, rule, since, firingSince, peak }: AlertInstance,
  latest: Pick<AlertInstance, 'value' | 'calls' | 'counts'>,
  evidence: Evidence,
  at: number,
): Notification {
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
  }
}

/** How many of the calls behind a ratio failed in the way that the rule is about. */
export function failuresOf({ signal, counts }: Pick<Notification, 'signal' | 'counts'>): number | undefined {
  if (signal.name !== 'failure_ratio' || counts === undefined) return undefined
  return failureCount(counts, signal.reason)
}
