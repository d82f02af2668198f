/**
 * An integer literal as a `sessionId` that may be beyond 2^53, where numbers are no longer told apart. Inside a text its
 * quotes have backslashes, so in valid JSON nothing else looks like it; with a fraction or an exponent it is left alone.
 * An id has no more digits, and the stack of a regular expression must not grow with an answer.
 */
const LONG_ID = /(?<!\\)("sessionId"\s*:\s*)(-?[1-9]\d{15,498})(?![\d.eE])/g

/**
 * The same JSON with such an id as a text. A reviver of `JSON.parse` is shown the literals as well, but it is called for each
 * value of an answer, which takes seven times as long as parsing it.
 */
export function quoteLongIds(json: string): string {
  return json.replaceAll(LONG_ID, '$1"$2"')
}
