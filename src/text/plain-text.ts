/**
 * A text of somebody else's as it may be shown: without controls, which move a terminal's cursor, and without format
 * characters (Unicode's Cf), which hide text or turn its direction. Line breaks and tabs stay.
 */
export function plainText(text: string): string {
  return text.replaceAll(UNPRINTABLE, '')
}

/** The same for JSON that is to be shown: what it spells as an escape is a character as soon as it is shown. */
export function plainJson(json: string): string {
  return plainText(json).replaceAll(/\\(?:u00[01][\da-f]|u007f|[bfr])|\\./gi, (escape) =>
    /^\\(?:u00|[bfr])/i.test(escape) ? '' : escape,
  )
}

/** JSON with these characters as escapes: says the same, and shows none of them. */
export function escapedJson(json: string): string {
  return json.replaceAll(UNPRINTABLE, (text) =>
    [...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
}

const UNPRINTABLE = /\p{Cf}|(?![\n\t])\p{Cc}/gu
