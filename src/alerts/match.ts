import { MODES, RECEIVER_TYPES, TYPES } from '../ledger/call.ts'
import type { Notification } from './notification.ts'
import { RULE_LABELS, type RuleLabel } from './groups.ts'

export const SEVERITIES = ['critical', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** What an alert can match: each given value must be its own. */
export type AlertMatch = Readonly<Partial<Record<'alert' | 'severity' | 'target' | RuleLabel, string>>>

/** What a match may name, in the order in which it is explained. */
export const MATCH_KEYS = ['alert', 'severity', 'target', ...RULE_LABELS] as const

/** The values that do not depend on the configuration. */
export const MATCH_VALUES = { severity: SEVERITIES, type: TYPES, mode: MODES, receiver_type: RECEIVER_TYPES } as const

/** The names of the rules and targets that there are. */
export type KnownNames = { readonly alert: readonly string[]; readonly target: readonly string[] }

/** Whether an alert has all that a match names; an empty match matches all. A label that the alert lacks matches nothing. */
export function matches(
  { alert, severity, target, ...labels }: AlertMatch,
  changed: Pick<Notification, 'alert' | 'severity' | 'target' | 'labels' | 'match'>,
): boolean {
  const own: Partial<Record<string, string>> = { ...changed.match, ...changed.labels }
  return (
    (alert ?? changed.alert) === changed.alert &&
    (severity ?? changed.severity) === changed.severity &&
    (target ?? changed.target) === changed.target &&
    Object.entries(labels).every(([label, value]) => value === undefined || own[label] === value)
  )
}

/** Why a match can never match an alert, in a sentence that names what there is; undefined where it can. */
export function unknownIn(match: AlertMatch, names: KnownNames): string | undefined {
  const known: Record<keyof AlertMatch, readonly string[]> = { ...MATCH_VALUES, ...names }
  const wrong = MATCH_KEYS.find((key) => match[key] !== undefined && !known[key].includes(match[key]))
  if (wrong === undefined) return undefined
  const what = wrong === 'alert' ? 'rule' : wrong
  return `there is no ${what} ${match[wrong]}; there is: ${known[wrong].join(', ') || 'none'}`
}

/** Some alerts are not notified until a moment. It ends by itself; evaluation continues. */
export type Silence = {
  id: number
  match: AlertMatch
  /** UNIX seconds by the host's clock. */
  since: number
  until: number
  reason: string
}

/** No silence is for longer than this (seconds): what must never be notified needs no rule. */
export const MAX_SILENCE = 366 * 86_400
