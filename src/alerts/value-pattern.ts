import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'

/*
 * A value of a match may be a regular expression, written `=~High.*` as in Alertmanager and Prometheus. Every user who may
 * silence can enter one. Therefore RE2 runs it: its time is at most the product of the lengths of expression and text.
 */

const PREFIX = '=~'
/** The longest expression (characters), and the longest program that RE2 may make of it (instructions). */
export const MAX_PATTERN_LENGTH = 200
const MAX_PROGRAM = 1000

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
export function matchesValue(wanted: string, value: string): boolean {
  if (!isPattern(wanted)) return wanted === value
  const compiled = compile(wanted)
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
  try {
    const compiled = RE2JS.compile(expression)
    return compiled.programSize() > MAX_PROGRAM ? 'the regular expression repeats too much' : compiled
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const why = error instanceof RE2JSSyntaxException ? `: ${error.error}` : ''
    return `the regular expression is none that RE2 understands${why}`
  }
}
