/**
 * A `sessionId` that is an integer literal and may be beyond 2^53, where numbers are no longer exact. Inside a JSON string
 * its quotes would have backslashes, so nothing else matches; literals with a fraction or an exponent do not match either.
 * The number of digits is limited, as that of ids is, because the stack of a regular expression would grow with it.
 */
const LONG_ID = /(?<!\\)("sessionId"\s*:\s*)(-?[1-9]\d{15,498})(?![\d.eE])/g

/**
 * The same JSON with such ids as strings. A reviver of `JSON.parse` would get the literals too, but it is called for each
 * value, and takes seven times as long as parsing.
 */
export function quoteLongIds(json: string): string {
  return json.replaceAll(LONG_ID, '$1"$2"')
}
