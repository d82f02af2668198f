import * as z from 'zod'
import { isoTime } from '../clock/times.ts'
import type { AlertChange } from '../events/types.ts'
import type { Alert } from './alert.ts'
import { RULE_LABELS } from './groups.ts'
import { SEVERITIES } from './match-keys.ts'
import { signals } from './signals.ts'

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
