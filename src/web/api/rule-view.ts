import * as z from 'zod'
import { definitionOf } from '../../alerts/definition-of.ts'
import type { Rule } from '../../alerts/rule.ts'
import { latestValues, type EvaluatedLedger } from '../../alerts/latest-values.ts'
import { signalView } from '../../alerts/signal-view.ts'
import { breach, count, label, labels, measured, severity } from './parts.ts'

export const rule = z.object({
  name: z.string(),
  severity,
  ...measured,
  breach,
  threshold: z.number(),
  clear: z.number(),
  match: labels,
  by: z.array(label),
  readings: z
    .array(z.object({ labels, value: z.number().nullable().describe('Null of too few calls'), calls: count }))
    .optional(),
})

export type RuleView = z.output<typeof rule>

/** A rule in `/api/v1/status`, with its settings. Durations and windows are seconds. */
export function ruleView(rule: Rule, ledger: EvaluatedLedger): RuleView {
  const { name, severity, signal, breach, threshold, clear, match, by } = rule
  return {
    name,
    severity,
    ...signalView(signal),
    breach,
    threshold,
    clear,
    match,
    by: [...by],
    readings: definitionOf(signal).isShownInStatus === true ? readingsOf(rule, ledger) : undefined,
  }
}

/** The values of a rule at the last successful poll, by its labels; null where there were too few calls. */
function readingsOf(rule: Rule, ledger: EvaluatedLedger) {
  return latestValues(rule, ledger, { pollAge: 0 }).map(({ labels, value, calls = 0, tooFew }) => ({
    labels,
    value: tooFew ? null : value,
    calls,
  }))
}
