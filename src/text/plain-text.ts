/**
 * Makes a text from outside safe to show. It removes control characters, which move a terminal's cursor, and format
 * characters (Unicode's Cf), which hide text or change its direction. It keeps line breaks and tabs, and the joiners of letters and
 * emoji.
 */
export function plainText(text: string): string {
  return text.replaceAll(UNPRINTABLE, '')
}

/** Removes line breaks and tabs. */
export function inOneLine(text: string): string {
  return text.replaceAll(/[^\S ]+/g, ' ')
}

/**
 * The same for JSON. It also removes the escapes of these characters, which would become characters when the JSON is parsed.
 */
export function plainJson(json: string): string {
  return plainText(json).replaceAll(/\\(?:u00[01][\da-f]|u007f|[bfr])|\\./gi, (escape) =>
    /^\\(?:u00|[bfr])/i.test(escape) ? '' : escape,
  )
}

/** JSON with these characters as escapes: the same value, but the text contains none of them. */
export function escapedJson(json: string): string {
  return json.replaceAll(UNPRINTABLE, (text) =>
    [...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
}

// U+200C and U+200D change the letter before them, which is never ASCII; after anything else they only make names that look alike.
const UNPRINTABLE = /(?!(?<=[^\p{ASCII}\p{Cf}])[\u200C\u200D])\p{Cf}|(?![\n\t])\p{Cc}/gu
