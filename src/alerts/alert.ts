import { measuredIn, type AlertInstance, type Evidence } from './alert-instance.ts'
import type { Rule } from './rule.ts'

/**
 * An alert of a target: its rule, its last value, and what explains the value. Target and key identify it. Times are UNIX
 * seconds.
 */
export type Alert = Omit<Rule, 'name'> &
  Pick<AlertInstance, 'key' | 'labels' | 'since' | 'value' | 'peak'> &
  Partial<Pick<AlertInstance, 'calls' | 'counts' | 'compared'>> &
  Evidence & {
    target: string
    /** The rule's name. */
    alert: string
    /** `since` if it is pending. */
    firingSince: number
  }

/** An instance and its target. */
export type LiveAlert = { target: string; instance: AlertInstance }

type Measured = Pick<Alert, 'labels' | 'match' | 'breach'> & { signal: object }

/** The keys of signals that do not change what is counted: how long, and how much is enough for a result. */
const HOW_SURE = /^(?:window|min[A-Z].*|confidence)$/

/** Names what an alert measures. Alerts of one subject differ in target, threshold, window and severity. */
export function subjectOf({ signal, labels, match, breach }: Measured): string {
  const sorted = (values: object) =>
    Object.entries(values)
      .filter(([key, value]) => value !== undefined && !HOW_SURE.test(key))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([sorted(signal), breach, sorted({ ...match, ...labels })])
}

/** Names an alert among those of all targets. */
export const nameOf = ({ target, key }: Pick<Alert, 'target' | 'key'>) => JSON.stringify([target, key])

/** Names what alerts of a target measure: those that differ only in severity, threshold and window have the same. */
export const placeOf = (alert: Pick<Alert, 'target'> & Parameters<typeof subjectOf>[0]) =>
  JSON.stringify([alert.target, subjectOf(alert)])

export function alertOf({ target, instance }: LiveAlert): Alert {
  const { key, labels, since, firingSince = since, peak, evidence } = instance
  const { name: alert, ...rule } = instance.rule
  const measured = measuredIn(instance)
  return {
    ...rule,
    target,
    key,
    alert,
    labels,
    since,
    firingSince,
    ...measured,
    peak,
    ...evidence,
  }
}
