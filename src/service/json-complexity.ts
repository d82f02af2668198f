/** More than any answer has; a call of the service is nested four deep. */
const DEEPEST = 64
/** Fields of an object, too. */
const MOST_FIELDS = 10_000
/** Of so many characters one may open an object or an array; in an answer without much else in it one of 19 does. */
const CHARACTERS_PER_OPENING = 8
/** Characters. A shorter text cannot hold so many that it takes long; a usual page is not gone through for it. */
const LONG = 256 * 1024
const [QUOTE, BACKSLASH, COLON] = [34, 92, 58]
const [BRACKET, BRACKET_END, BRACE, BRACE_END] = [91, 93, 123, 125]

/**
 * Whether a long JSON text takes more time and memory to parse than its length is worth: it is nested more deeply than
 * anybody writes, an object of it has thousands of fields, or it consists of little but brackets.
 */
export function isTooComplex(json: string): boolean {
  if (json.length < LONG) return false
  let left = json.length / CHARACTERS_PER_OPENING
  let depth = 0
  let isText = false
  const fields = new Uint32Array(DEEPEST + 1)
  for (let i = 0; i < json.length; i++) {
    const character = json.charCodeAt(i)
    if (isText) {
      if (character === BACKSLASH) i += 1
      else if (character === QUOTE) isText = false
    } else if (character === QUOTE) isText = true
    else if (character === BRACKET || character === BRACE) {
      depth += 1
      left -= 1
      if (depth > DEEPEST || left < 0) return true
      fields[depth] = 0
    } else if (character === COLON) {
      fields[depth]! += 1
      if (fields[depth]! > MOST_FIELDS) return true
    } else if (character === BRACKET_END || character === BRACE_END) depth -= 1
  }
  return false
}
