import * as z from 'zod'
import type { AlertInstance } from './alert-instance.ts'
import type { Evidence } from './notification.ts'
import type { Rule } from './rule.ts'
import { isoTime } from '../clock/times.ts'
import type { AlertChange } from '../events/types.ts'
import { RULE_LABELS } from './groups.ts'
import { SEVERITIES } from './match-keys.ts'
import { signals } from './signals.ts'

/**
 * An alert of a target: its rule, its last value, and what explains the value. Target and key identify it. Times are UNIX
 * seconds.
 */
export type Alert = Omit<Rule, 'name'> &
  Pick<AlertInstance, 'key' | 'labels' | 'since' | 'value' | 'peak'> &
  Partial<Pick<AlertInstance, 'calls' | 'counts'>> &
  Evidence & {
    target: string
    /** The rule's name. */
    alert: string
    /** `since` if it is pending. */
    firingSince: number
  }

/** An instance and its target. */
export type LiveAlert = { target: string; instance: AlertInstance }

export function alertOf({ target, instance }: LiveAlert): Alert {
  const { key, labels, since, firingSince = since, value, peak, calls, counts, evidence } = instance
  const { name: alert, ...rule } = instance.rule
  return { ...rule, target, key, alert, labels, since, firingSince, value, peak, calls, counts, ...evidence }
}

/** The fields of an alert that the API, events and webhooks share. Each of them adds its own. */
export const alertSchema = z.object({
  target: z.string(),
  alert: z.string(),
  severity: z.enum(SEVERITIES),
  labels: z.partialRecord(z.enum(RULE_LABELS), z.string()),
  signal: z.enum(signals.map(({ name }) => name)),
  breach: z.enum(['above', 'below']),
  value: z.number(),
  threshold: z.number(),
  peak: z.number(),
  calls: z.int().nonnegative().nullable(),
  since: z.iso.datetime(),
}) satisfies z.ZodType<AlertChange>

export type AlertData = z.output<typeof alertSchema>

export function alertData({ signal, calls, since, ...alert }: Alert): AlertData {
  const { target, alert: name, severity, labels, breach, value, threshold, peak } = alert
  return {
    target,
    alert: name,
    severity,
    labels,
    signal: signal.name,
    breach,
    value,
    threshold,
    peak,
    calls: calls ?? null,
    since: isoTime(since),
  }
}
