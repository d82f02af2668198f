/*
 * A value of a match may be a regular expression: `=~High.*`, as Alertmanager and Prometheus write it. Every user who may silence
 * can enter one, so no backtracking: an expression is run on all positions of the text at once, in a time that is at most
 * the product of both lengths. That is why it may not have a repetition inside a repetition.
 */

const PREFIX = '=~'
/** The longest expression (characters). */
export const MAX_PATTERN_LENGTH = 200

/** From the positions at which a part of the expression may begin in a text, those at which it may end. */
type PatternPart = (starts: ReadonlySet<number>, text: readonly string[]) => Set<number>
type Parsed = { part: PatternPart; repeats: boolean }

/** Why an expression cannot be used, in a sentence. */
class PatternError extends Error {}

/** Whether a value of a match is an expression rather than the text itself. */
export function isPattern(value: string): boolean {
  return value.startsWith(PREFIX)
}

/** What is wrong with a value of a match, in a sentence; undefined where nothing is. */
export function patternProblem(value: string): string | undefined {
  const parsed = isPattern(value) ? tryToParse(value) : undefined
  return parsed instanceof PatternError ? parsed.message : undefined
}

/** Whether a value is what a match asks for: the same text, or one that its expression matches from beginning to end. */
export function matchesValue(wanted: string, value: string): boolean {
  if (!isPattern(wanted)) return wanted === value
  const parsed = tryToParse(wanted)
  // Another version may have stored what this one does not understand.
  if (parsed instanceof PatternError) return false
  const text = Array.from(value)
  return parsed(new Set([0]), text).has(text.length)
}

/** The expressions that were parsed, at most so many: each is compared with every alert, again and again. */
const known = new Map<string, PatternPart | PatternError>()
const MOST_KNOWN = 1000

function tryToParse(value: string): PatternPart | PatternError {
  const before = known.get(value)
  if (before !== undefined) return before
  if (known.size >= MOST_KNOWN) known.clear()
  const parsed = parsedOrError(value)
  known.set(value, parsed)
  return parsed
}

function parsedOrError(value: string): PatternPart | PatternError {
  try {
    return parse(value)
  } catch (error) {
    if (error instanceof PatternError) return error
    throw error
  }
}

/** @throws {PatternError} */
function parse(value: string): PatternPart {
  const characters = Array.from(value.slice(PREFIX.length).trim())
  // Without the expression itself, which may come from a variable.
  const refuse = (problem: string): never => {
    throw new PatternError(`the regular expression ${problem}`)
  }
  if (characters.length === 0) throw new PatternError('there is no regular expression after =~')
  if (characters.length > MAX_PATTERN_LENGTH) {
    throw new PatternError(`a regular expression has at most ${MAX_PATTERN_LENGTH} characters`)
  }
  let at = 0

  function alternatives(): Parsed {
    const all = [sequence()]
    while (characters[at] === '|') {
      at++
      all.push(sequence())
    }
    const union: PatternPart = (starts, text) => new Set(all.flatMap(({ part }) => [...part(starts, text)]))
    return { part: union, repeats: all.some(({ repeats }) => repeats) }
  }

  function sequence(): Parsed {
    const all: Parsed[] = []
    while (at < characters.length && characters[at] !== '|' && characters[at] !== ')') all.push(repetition())
    const inOrder: PatternPart = (starts, text) => all.reduce((ends, { part }) => part(ends, text), new Set(starts))
    return { part: inOrder, repeats: all.some(({ repeats }) => repeats) }
  }

  function repetition(): Parsed {
    const { part, repeats } = atom()
    const sign = characters[at]
    if (sign !== '*' && sign !== '+' && sign !== '?') return { part, repeats }
    at++
    if (sign === '?') return { part: (starts, text) => starts.union(part(starts, text)), repeats }
    if (repeats) refuse('has a repetition inside a repetition')
    if (sign === '*') return { part: (starts, text) => starts.union(oneOrMore(part, starts, text)), repeats: true }
    return { part: (starts, text) => oneOrMore(part, starts, text), repeats: true }
  }

  function atom(): Parsed {
    const first = characters[at++]!
    if (first === '(') return group()
    if (first === '[') return characterOf(bracket())
    if (first === '\\') return characterOf(`\\${characters[at++] ?? ''}`)
    if (first === '^' || first === '$') return refuse(`has ${first}; it must match the whole value without it`)
    if ('*+?{}]'.includes(first))
      return refuse(`has ${first} where it means nothing; \\${first} is the character itself`)
    if (first === '.') return { part: oneCharacter(() => true), repeats: false }
    return { part: oneCharacter((character) => character === first), repeats: false }
  }

  function group(): Parsed {
    if (characters[at] === '?') {
      if (characters[at + 1] !== ':') refuse('has (? with another meaning than (?:')
      at += 2
    }
    const inside = alternatives()
    if (characters[at++] !== ')') refuse('has a ( without its )')
    return inside
  }

  /** The rest of `[a-z]`; a backslash keeps its bracket in it. */
  function bracket(): string {
    const begin = at - 1
    while (at < characters.length && characters[at] !== ']') at += characters[at] === '\\' ? 2 : 1
    if (at >= characters.length) refuse('has a [ without its ]')
    return characters.slice(begin, ++at).join('')
  }

  /** A set or an escape, which JavaScript understands as others do. It sees one character at a time. */
  function characterOf(source: string): Parsed {
    const isKnown = source.startsWith('[') || /^\\(?:[dDwWsS]|[^\p{L}\p{N}])$/u.test(source)
    try {
      if (!isKnown) throw new SyntaxError(source)
      const one = new RegExp(`^${source}$`, 'u')
      return { part: oneCharacter((character) => one.test(character)), repeats: false }
    } catch {
      return refuse(source.startsWith('[') ? 'has a set [ ] that is none' : 'has an unknown escape after \\')
    }
  }

  const whole = alternatives()
  if (at < characters.length) refuse('has a ) without its (')
  return whole.part
}

function oneCharacter(isWanted: (character: string) => boolean): PatternPart {
  return (starts, text) => {
    const passed = [...starts].filter((start) => start < text.length && isWanted(text[start]!))
    return new Set(passed.map((start) => start + 1))
  }
}

/** Continues from each position once. */
function oneOrMore(part: PatternPart, starts: ReadonlySet<number>, text: readonly string[]): Set<number> {
  const reached = new Set<number>()
  for (let next = part(starts, text); next.size > 0; next = part(next, text)) {
    next = next.difference(reached)
    for (const end of next) reached.add(end)
  }
  return reached
}
