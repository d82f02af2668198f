import { MODES, RECEIVER_TYPES, TYPES } from '../ledger/call.ts'
import { RULE_LABELS, type RuleLabel } from './groups.ts'

export const SEVERITIES = ['critical', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Compares by severity, the most severe first. */
export function bySeverity(one: { severity: Severity }, other: { severity: Severity }): number {
  return SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity)
}

export function isMoreSevere(one: { severity: Severity }, other: { severity: Severity }): boolean {
  return bySeverity(one, other) < 0
}

/** Selects alerts. Each given value must equal the alert's, or be an expression that matches it (match.ts). */
export type AlertMatch = Readonly<Partial<Record<'alert' | 'severity' | 'target' | RuleLabel, string>>>

/** Selects what fires of a group: a single alert alone, several by their names, on one target there. */
export function matchOfAll(
  { severity: _severity, ...group }: AlertMatch,
  alerts: readonly { alert: string; target: string; labels: AlertMatch }[],
): AlertMatch {
  const { alert, target, labels } = alerts[0]!
  if (alerts.length === 1) return { alert, target, ...labels }
  const isOne = alerts.every((one) => one.target === target)
  const names = [...new Set(alerts.map((one) => one.alert))]
  const only = names.length === 1 ? alert : `=~${names.map(literally).join('|')}`
  return { ...(isOne && { target }), ...group, alert: only }
}

/** A regular expression that matches only this text. */
export function literally(text: string): string {
  return text.replaceAll(/[!-/:-@[-^`{-~]/g, '\\$&')
}

/** The keys of a match, in the order in which they are documented. */
export const MATCH_KEYS = ['alert', 'severity', 'target', ...RULE_LABELS] as const

/** The values that do not depend on the configuration. */
export const MATCH_VALUES = { severity: SEVERITIES, type: TYPES, mode: MODES, receiver_type: RECEIVER_TYPES } as const
