import { MODES, RECEIVER_TYPES, TYPES } from '../ledger/call.ts'
import { RULE_LABELS, type RuleLabel } from './groups.ts'

export const SEVERITIES = ['critical', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

export function isMoreSevere(one: { severity: Severity }, other: { severity: Severity }): boolean {
  return SEVERITIES.indexOf(one.severity) < SEVERITIES.indexOf(other.severity)
}

/** What an alert can match: each given value must be its own, or an expression that matches its own (value-pattern.ts). */
export type AlertMatch = Readonly<Partial<Record<'alert' | 'severity' | 'target' | RuleLabel, string>>>

/** What a match may name, in the order in which it is explained. */
export const MATCH_KEYS = ['alert', 'severity', 'target', ...RULE_LABELS] as const

/** The values that do not depend on the configuration. */
export const MATCH_VALUES = { severity: SEVERITIES, type: TYPES, mode: MODES, receiver_type: RECEIVER_TYPES } as const
