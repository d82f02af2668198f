import type { AlertInstance } from './alert-instance.ts'
import type { Evidence } from './notification.ts'
import type { Rule } from './rule.ts'

/**
 * An alert of a target as everything reads it that is about alerts: its rule, what was last measured, and what explains that.
 * Target and key name it. Times are UNIX seconds.
 */
export type Alert = Omit<Rule, 'name'> &
  Pick<AlertInstance, 'key' | 'labels' | 'since' | 'value' | 'peak'> &
  Partial<Pick<AlertInstance, 'calls' | 'counts'>> &
  Evidence & {
    target: string
    /** The rule's name. */
    alert: string
    /** Of a pending one, `since`. */
    firingSince: number
  }

/** An instance, and the target that it is of. */
export type LiveAlert = { target: string; instance: AlertInstance }

export function alertOf({ target, instance }: LiveAlert): Alert {
  const { key, labels, since, firingSince = since, value, peak, calls, counts, evidence } = instance
  const { name: alert, ...rule } = instance.rule
  return { ...rule, target, key, alert, labels, since, firingSince, value, peak, calls, counts, ...evidence }
}
