/** Calls of the service are nested four deep. */
const DEEPEST = 64
/** The most fields of one object. */
const MAX_FIELDS = 10_000
/** At most one of this many characters may open an object or an array. In a dense page of calls it is one of 19. */
const CHARACTERS_PER_OPENING = 8
/** Shorter texts are not checked, because they parse fast in any case. */
const CHECKED_CHARACTERS = 256 * 1024
const [QUOTE, BACKSLASH, COLON] = [34, 92, 58]
const [BRACKET, BRACKET_END, BRACE, BRACE_END] = [91, 93, 123, 125]

/**
 * Whether parsing a long JSON text would take unusual time and memory: it is nested very deeply, has an object with thousands
 * of fields, or consists mostly of brackets.
 */
export function isTooComplex(json: string): boolean {
  if (json.length < CHECKED_CHARACTERS) return false
  let left = json.length / CHARACTERS_PER_OPENING
  let depth = 0
  const fields = new Uint32Array(DEEPEST + 1)
  for (let i = 0; i < json.length; i++) {
    const character = json.charCodeAt(i)
    if (character === QUOTE) i = endOfString(json, i)
    else if (character === BRACKET || character === BRACE) {
      depth += 1
      left -= 1
      if (depth > DEEPEST || left < 0) return true
      fields[depth] = 0
    } else if (character === COLON) {
      fields[depth]! += 1
      if (fields[depth]! > MAX_FIELDS) return true
    } else if (character === BRACKET_END || character === BRACE_END) depth -= 1
  }
  return false
}

/** Where the string ends that begins here. */
function endOfString(json: string, begin: number): number {
  let i = begin + 1
  for (let character = json.charCodeAt(i); i < json.length && character !== QUOTE; character = json.charCodeAt(i)) {
    i += character === BACKSLASH ? 2 : 1
  }
  return i
}
