/** The most bytes of a line. Journals and collectors cut or split longer ones, and the rest of the JSON is lost. */
const MAX_BYTES = 8192

/** How many characters of each text, and how many items of each list, are kept, the first that make the line short enough. */
const KEPT = [4000, 1500, 500, 150, 50]

/**
 * A line of JSON with at most 8 KB. Of a longer one, the ends of long texts (`…`) and of long lists are left out, and `truncated` is true.
 *
 * @param shown how the line is written; its bytes count
 */
export function shortLine(line: string, shown: (line: string) => string): string {
  const whole = shown(line)
  if (Buffer.byteLength(whole) <= MAX_BYTES) return whole
  const content: unknown = JSON.parse(line)
  for (const most of KEPT) {
    const short = shown(`${JSON.stringify({ ...Object(cut(content, most)), truncated: true })}\n`)
    if (Buffer.byteLength(short) <= MAX_BYTES || most === KEPT.at(-1)) return short
  }
  return whole
}

function cut(value: unknown, most: number): unknown {
  if (typeof value === 'string') return value.length <= most ? value : `${value.slice(0, most).toWellFormed()}…`
  if (Array.isArray(value)) return value.slice(0, Math.ceil(most / 50)).map((item) => cut(item, most))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item, most)]))
}
