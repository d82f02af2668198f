/**
 * Matches a `sessionId` that is an integer literal and may exceed 2^53, beyond which numbers are inexact. Within a JSON
 * string its quotes would have backslashes, so nothing else matches. Literals with a fraction or an exponent do not match
 * either. The number of digits is limited, because the stack of the regular expression would grow with it.
 */
const LONG_ID = /(?<!\\)("sessionId"\s*:\s*)(-?[1-9]\d{15,498})(?![\d.eE])/g

/**
 * Turns such ids of a JSON text into strings. A reviver of `JSON.parse` would also get the literals, but it is called for
 * each value, and takes seven times as long as parsing.
 */
export function quoteLongIds(json: string): string {
  return json.replaceAll(LONG_ID, '$1"$2"')
}
