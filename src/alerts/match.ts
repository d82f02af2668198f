import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'
import { QueryError } from '../schema/query-error.ts'
import { knownNames } from '../schema/nearest-key.ts'
import type { Alert } from './alert.ts'
import { MATCH_KEYS, MATCH_VALUES, type AlertMatch } from './match-keys.ts'

/*
 * A value of a match may be a regular expression, written `=~High.*` as in Alertmanager and Prometheus. Every user who may
 * silence can enter one. Therefore RE2 runs it: its time is at most the product of the lengths of expression and text.
 */

const PREFIX = '=~'
/** The longest expression (characters): the names of many rules. RE2 takes long to compile a long one that repeats something. */
export const MAX_PATTERN_LENGTH = 2000
const MAX_REPEATING_LENGTH = 200
/** The longest program that RE2 may make of it (instructions). */
const MAX_PROGRAM = 2000

/** Whether a value of a match is an expression, not a plain text. */
export function isPattern(value: string): boolean {
  return value.startsWith(PREFIX)
}

/** Why a value of a match is not valid, in a sentence; undefined if it is. */
export function patternProblem(value: string): string | undefined {
  const compiled = isPattern(value) ? compile(value) : undefined
  return typeof compiled === 'string' ? compiled : undefined
}

/** Whether a value equals the wanted text, or the wanted expression matches it from beginning to end. */
export function matchesValue(expected: string, value: string): boolean {
  if (!isPattern(expected)) return expected === value
  const compiled = compile(expected)
  // Another version may have stored an expression that this version cannot compile.
  return typeof compiled === 'string' ? false : compiled.testExact(value)
}

/** Caches compiled expressions, or what is wrong with them: each is compared with every alert, again and again. */
const known = new Map<string, RE2JS | string>()
const MOST_KNOWN = 1000

function compile(value: string): RE2JS | string {
  const before = known.get(value)
  if (before !== undefined) return before
  if (known.size >= MOST_KNOWN) known.clear()
  const compiled = compiledOrProblem(value.slice(PREFIX.length).trim())
  known.set(value, compiled)
  return compiled
}

/** The problem does not quote the expression, which may come from a variable. */
function compiledOrProblem(expression: string): RE2JS | string {
  if (expression === '') return 'there is no regular expression after =~'
  if (expression.length > MAX_PATTERN_LENGTH) return `a regular expression has at most ${MAX_PATTERN_LENGTH} characters`
  if (expression.length > MAX_REPEATING_LENGTH && /(?<!\\)\{/.test(expression))
    return `a regular expression with { has at most ${MAX_REPEATING_LENGTH} characters`
  try {
    const compiled = RE2JS.compile(expression)
    return compiled.programSize() > MAX_PROGRAM ? 'the regular expression repeats too much' : compiled
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const why = error instanceof RE2JSSyntaxException ? `: ${error.error}` : ''
    return `the regular expression is none that RE2 understands${why}`
  }
}

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

/**
 * Refuses a match that can never match an alert.
 *
 * @throws {QueryError} with the known names
 */
export function expectKnown(match: AlertMatch, names: KnownNames): void {
  const known: Record<keyof AlertMatch, readonly string[]> = { ...MATCH_VALUES, ...names }
  for (const key of MATCH_KEYS) {
    const wanted = match[key]
    if (wanted === undefined) continue
    const problem = patternProblem(wanted)
    if (problem !== undefined) throw new QueryError(problem)
    if (known[key].some((value) => matchesValue(wanted, value))) continue
    const what = key === 'alert' ? 'rule' : key
    const found = isPattern(wanted) ? `no ${what} matches ${wanted}` : `there is no ${what} ${wanted}`
    throw new QueryError(`${found}; ${knownNames(wanted, known[key])}`)
  }
}

type Selection = { match?: AlertMatch | undefined; all?: true | undefined }

/**
 * A match must name what exists; a silence of every alert must say so.
 *
 * @param says what is wrong with a selection of nothing, or of all alerts and some
 * @throws {QueryError}
 */
export function requestedMatch(
  { match = {}, all }: Selection,
  names: KnownNames,
  says: { nothing: string; both: string },
): AlertMatch {
  const isEmpty = Object.keys(match).length === 0
  if (isEmpty && all === undefined) throw new QueryError(says.nothing)
  if (!isEmpty && all === true) throw new QueryError(says.both)
  expectKnown(match, names)
  return match
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
