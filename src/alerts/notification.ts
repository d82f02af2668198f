import type { Reason } from '../ledger/failure-ratio.ts'
import type { FinishedCounts } from '../ledger/finished-calls.ts'
import type { AlertInstance, Change } from './alert-instance.ts'
import type { Rule, Severity } from './rule.ts'

/** What is said of one alert, to whoever is to hear it: enough to decide whether to act. Times are UNIX seconds. */
export type Notification = {
  kind: Change
  /** Why an alert was closed without having resolved. */
  closedBecause?: 'too few calls' | 'rule removed'
  target: string
  alert: string
  severity: Severity
  signal: Rule['signal']
  /** Of a failure ratio. */
  reason?: Reason
  window?: number
  value: number
  /** What the value was compared with: `above` for a firing alert, `clear` for a resolved one. */
  threshold: number
  counts?: FinishedCounts
  since: number
  firingSince: number
  peak: number
  at: number
  runbookUrl?: string
  description?: string
}

/** The notification of a change that an instance just made; `latest` is the value that made it. */
export function notificationOf(
  change: { kind: Change; closedBecause?: NonNullable<Notification['closedBecause']> },
  target: string,
  { rule, since, firingSince, peak }: AlertInstance,
  latest: Pick<AlertInstance, 'value' | 'counts'>,
  at: number,
): Notification {
  return {
    ...change,
    target,
    alert: rule.name,
    severity: rule.severity,
    signal: rule.signal,
    ...(rule.signal === 'failure_ratio' ? { reason: rule.reason, window: rule.window } : {}),
    value: latest.value,
    threshold: change.kind === 'resolved' ? rule.clear : rule.above,
    ...(latest.counts === undefined ? {} : { counts: latest.counts }),
    since,
    firingSince: firingSince ?? at,
    peak,
    at,
    ...(rule.runbookUrl === undefined ? {} : { runbookUrl: rule.runbookUrl }),
    ...(rule.description === undefined ? {} : { description: rule.description }),
  }
}
