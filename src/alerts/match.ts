import type { Notification } from './notification.ts'
import type { RuleLabel } from './rule.ts'

/** What alerts can be picked by: each given value must be theirs. */
export type AlertMatch = Readonly<Partial<Record<'alert' | 'severity' | 'target' | RuleLabel, string>>>

/** Whether a match picks an alert; an empty one picks all. A label that the alert does not have matches nothing. */
export function picks(
  { alert, severity, target, ...labels }: AlertMatch,
  told: Pick<Notification, 'alert' | 'severity' | 'target' | 'labels' | 'match'>,
): boolean {
  const own: Partial<Record<string, string>> = { ...told.match, ...told.labels }
  return (
    (alert ?? told.alert) === told.alert &&
    (severity ?? told.severity) === told.severity &&
    (target ?? told.target) === told.target &&
    Object.entries(labels).every(([label, value]) => value === undefined || own[label] === value)
  )
}
