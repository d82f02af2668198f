import type { FinalStatus } from '../ledger/call.ts'
import { definitionOf } from './definition-of.ts'
import type { RuleLabels } from './groups.ts'
import type { Alert } from './alert.ts'
import type { Window } from './signal.ts'

/** The calls behind the value of an alert. */
export type CallsBehind = {
  target: string
  labels: RuleLabels
  statuses: readonly (FinalStatus | 'in_progress')[]
  /** When the calls finished, by the service's clock (UNIX seconds). Absent for calls in progress. */
  window?: Window
}

type MeasuredAlert = Pick<Alert, 'target' | 'signal' | 'match' | 'labels'> & { window?: Window | undefined }

/** Undefined if the value is not measured on calls that a query can select. */
export function callsBehind({ target, signal, match, labels, window }: MeasuredAlert): CallsBehind | undefined {
  const definition = definitionOf(signal)
  const statuses = 'calls' in definition ? definition.statuses?.(signal) : undefined
  if (statuses === undefined) return undefined
  const selected = { target, labels: { ...match, ...labels }, statuses }
  if (statuses.includes('in_progress')) return selected
  return window && { ...selected, window }
}
