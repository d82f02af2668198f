const GRAPHEMES = new Intl.Segmenter()
/** What takes two cells of a terminal: East Asian letters (Unicode's UAX 11), full-width forms and emoji. */
const WIDE =
  /[\u3000-\u303E\uFF01-\uFF60\uFFE0-\uFFE6\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Emoji_Presentation}\uFE0F]/u
const HALF_WIDTH = /[\uFF61-\uFFDC]/
const NO_WIDTH = /^[\p{M}\p{Cf}]+$/u

/** How many cells of a terminal a text takes. */
export function columnsOf(text: string): number {
  // oxlint-disable-next-line no-control-regex -- printable ASCII is the usual case
  if (/^[\x20-\x7E]*$/.test(text)) return text.length
  return graphemesOf(text).reduce((sum, grapheme) => sum + cellsOf(grapheme), 0)
}

function cellsOf(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0
  return WIDE.test(grapheme) && !HALF_WIDTH.test(grapheme) ? 2 : 1
}

function graphemesOf(text: string): string[] {
  return Array.from(GRAPHEMES.segment(text), ({ segment }) => segment)
}

/** A text with spaces after it, up to this many cells. */
export function padded(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - columnsOf(text)))
}

/** A text without its middle, so that it takes at most this many cells. */
export function shortened(text: string, cells: number): string {
  if (columnsOf(text) <= cells) return text
  const all = graphemesOf(text)
  const end = (cells - 1) >> 1
  const head = within(all, cells - 1 - end)
  return `${head.join('')}…${within(all.toReversed(), end).toReversed().join('')}`
}

/** The first graphemes that take at most this many cells together. */
function within(graphemes: readonly string[], cells: number): readonly string[] {
  let taken = 0
  const cut = graphemes.findIndex((grapheme) => (taken += cellsOf(grapheme)) > cells)
  return cut === -1 ? graphemes : graphemes.slice(0, cut)
}
