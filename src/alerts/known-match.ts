import { MODES, RECEIVER_TYPES, TYPES } from '../ledger/call.ts'
import type { AlertMatch } from './match.ts'
import { RULE_LABELS, SEVERITIES } from './rule.ts'

/** What a match may name, in the order in which it is explained. */
export const MATCH_KEYS = ['alert', 'severity', 'target', ...RULE_LABELS] as const

/** The values that do not depend on the configuration. */
export const MATCH_VALUES = { severity: SEVERITIES, type: TYPES, mode: MODES, receiver_type: RECEIVER_TYPES } as const

/** The names of the rules and targets that there are. */
export type KnownNames = { readonly alert: readonly string[]; readonly target: readonly string[] }

/** No silence is for longer than this (seconds): what is never to be told of is not to be a rule. */
export const LONGEST_SILENCE = 366 * 86_400

/** Why a match can never pick an alert, in a sentence that names what there is; undefined where it can. */
export function unknownIn(match: AlertMatch, names: KnownNames): string | undefined {
  const known: Record<keyof AlertMatch, readonly string[]> = { ...MATCH_VALUES, ...names }
  const wrong = MATCH_KEYS.find((key) => match[key] !== undefined && !known[key].includes(match[key]))
  if (wrong === undefined) return undefined
  const what = wrong === 'alert' ? 'rule' : wrong
  return `there is no ${what} ${match[wrong]}; there is: ${known[wrong].join(', ') || 'none'}`
}
