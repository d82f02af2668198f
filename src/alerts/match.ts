import type { Alert } from './alert.ts'
import { MATCH_KEYS, MATCH_VALUES, type AlertMatch } from './match-keys.ts'
import { isPattern, matchesValue, patternProblem } from './value-pattern.ts'

/** The names of the configured rules and targets. */
export type KnownNames = { readonly alert: readonly string[]; readonly target: readonly string[] }

type Matched = Pick<Alert, 'alert' | 'severity' | 'target' | 'labels' | 'match'>

/** The values of an alert that a match can name. */
export function valuesOf({ alert, severity, target, labels, match }: Matched): AlertMatch {
  return { ...match, ...labels, alert, severity, target }
}

/**
 * Whether an alert has all values that a match names. An empty match matches all alerts. A label that the alert lacks never
 * matches.
 */
export function matches(match: AlertMatch, alert: Matched): boolean {
  const own = valuesOf(alert)
  return MATCH_KEYS.every((key) => {
    const [wanted, value] = [match[key], own[key]]
    return wanted === undefined || (value !== undefined && matchesValue(wanted, value))
  })
}

/** Why a match can never match an alert, in a sentence that lists the known names; undefined if it can. */
export function unknownIn(match: AlertMatch, names: KnownNames): string | undefined {
  const known: Record<keyof AlertMatch, readonly string[]> = { ...MATCH_VALUES, ...names }
  for (const key of MATCH_KEYS) {
    const wanted = match[key]
    if (wanted === undefined) continue
    const problem = patternProblem(wanted)
    if (problem !== undefined) return problem
    if (known[key].some((value) => matchesValue(wanted, value))) continue
    const what = key === 'alert' ? 'rule' : key
    const found = isPattern(wanted) ? `no ${what} matches ${wanted}` : `there is no ${what} ${wanted}`
    return `${found}; there is: ${known[key].join(', ') || 'none'}`
  }
  return undefined
}

/** Alerts that match are not notified until the silence expires. Evaluation continues. */
export type Silence = {
  id: number
  match: AlertMatch
  /** UNIX seconds by the host's clock. */
  since: number
  until: number
  reason: string
  /** Who added it: the user of `http.auth` or of the operating system. Absent if unknown. */
  author?: string
  /** How often it was edited; absent: never. */
  edits?: number
  /** What it matched before each edit, and until when (UNIX seconds), oldest first. */
  earlier?: readonly { match: AlertMatch; until: number }[]
}

/**
 * A silence as it was at a past moment (UNIX seconds); undefined if it was not active. Its `until` is when it expired or was
 * edited.
 */
export function silenceAt(silence: Silence, at: number): Silence | undefined {
  if (at < silence.since || at >= silence.until) return undefined
  return { ...silence, ...silence.earlier?.find(({ until }) => at < until) }
}

/** The longest silence (seconds). An alert that must never be notified needs no rule. */
export const MAX_SILENCE_SECONDS = 366 * 86_400
