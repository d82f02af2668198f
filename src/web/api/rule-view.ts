import * as z from 'zod'
import { definitionOf } from '../../alerts/definition-of.ts'
import type { Rule } from '../../alerts/rule.ts'
import { ruleValues } from '../../alerts/rule-value.ts'
import { signalView } from '../../alerts/signal-view.ts'
import type { FinishedCalls } from '../../ledger/finished-calls.ts'
import type { SyncState } from '../../ledger/state.ts'
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

/** What the evaluation of a rule depends on. */
type RuleInput = { finished: FinishedCalls; sync: Pick<SyncState, 'lastSuccess' | 'previousSuccess'> }

/** A rule in `/api/v1/status`, with its settings. Durations and windows are seconds. */
export function ruleView(rule: Rule, ledger: RuleInput): RuleView {
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
function readingsOf(rule: Rule, { finished, sync }: RuleInput) {
  const { lastSuccess: now = 0, previousSuccess } = sync
  const end = { now, previousSuccess }
  const poll = { kind: 'poll', ...end, limited: false, finished, open: [], created: 0, usedSince: () => 0 } as const
  const values = ruleValues(rule, poll, () => ({ from: now, to: now }), [])
  return Array.from(values?.values() ?? [], ({ labels, value, calls = 0, tooFew }) => ({
    labels,
    value: tooFew ? null : value,
    calls,
  }))
}
