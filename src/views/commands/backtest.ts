import * as z from 'zod'
import type { Notification } from '../../alerts/notification.ts'
import type { EvaluatedValue } from '../../alerts/replay.ts'
import type { Rule } from '../../alerts/rule.ts'
import { withUsual } from '../../alerts/usual.ts'
import { isoTime } from '../../clock/times.ts'
import { pastAlert } from '../alert.ts'
import { breach, labels } from '../rule.ts'
import { count, time, timeOrNull } from '../shapes.ts'

/** A period in which an alert would have fired; `end` is undefined if it would still fire. */
export type Incident = { fired: Notification; end: Notification | undefined; peak: number }

/** What the rules would have done on the history of one target. */
export type TargetBacktest = {
  target: string
  /** The first and last evaluation in the history (UNIX seconds); undefined without any. */
  from: number | undefined
  to: number | undefined
  evaluations: number
  incidents: Incident[]
  /** Each rule that was replayed, and the worst of its values. */
  rules: { rule: Rule; worst: EvaluatedValue | undefined }[]
}

const incident = pastAlert
  .pick({
    alert: true,
    labels: true,
    severity: true,
    threshold: true,
    until: true,
    outcome: true,
    expired_because: true,
    peak: true,
  })
  .extend({ fired: time, value: z.number(), calls: count.nullable() })

/** The output of `backtest --json`. */
export const backtest = z.object({
  targets: z.array(
    z.object({
      target: z.string(),
      from: time.nullable(),
      to: time.nullable(),
      evaluations: count,
      incidents: z.array(incident),
      rules: z.array(
        z.object({
          alert: z.string(),
          times: count,
          breach,
          threshold: z.number(),
          worst: z
            .object({ value: z.number(), threshold: z.number(), at: time, labels, calls: count.nullable() })
            .nullable(),
        }),
      ),
    }),
  ),
  not_replayed: z.array(z.string()),
})

export function backtestView(found: readonly TargetBacktest[], skipped: readonly Rule[]): z.output<typeof backtest> {
  return {
    targets: found.map(({ target, from, to, evaluations, incidents, rules }) => ({
      target,
      from: timeOrNull(from),
      to: timeOrNull(to),
      evaluations,
      incidents: incidents.map(incidentView),
      rules: rules.map(({ rule, rule: { name, breach, threshold }, worst }) => ({
        alert: name,
        times: incidents.filter(({ fired }) => fired.alert === name).length,
        breach,
        threshold,
        worst: worst === undefined ? null : worstView(rule, worst),
      })),
    })),
    not_replayed: skipped.map(({ name }) => name),
  }
}

function worstView(rule: Rule, { value, usual, at, labels, calls }: EvaluatedValue) {
  return { value, threshold: withUsual(rule, usual).threshold, at: isoTime(at), labels, calls: calls ?? null }
}

function incidentView({ fired, end, peak }: Incident): z.output<typeof incident> {
  const { alert, labels, severity, at, value, threshold, calls } = fired
  return {
    alert,
    labels,
    severity,
    fired: isoTime(at),
    value,
    threshold,
    calls: calls ?? null,
    until: timeOrNull(end?.at),
    outcome: end?.kind === 'resolved' || end?.kind === 'expired' ? end.kind : null,
    ...(end?.expiredBecause !== undefined && { expired_because: end.expiredBecause }),
    peak,
  }
}
