import { plainText } from '../../text/plain-text.ts'
import { formatNumber } from '../../text/format.ts'

/** How wide a character is at most as receivers write it: some escape it for HTML, some for JSON, and Slack's `@here` mentions users. */
const WIDTHS: Readonly<Record<string, number>> = { '&': 5, '<': 4, '>': 4, '"': 6, '\\': 2, '\n': 2, '@': 2 }

/** A text from outside on one line, without what cannot be seen. However it is escaped, it has at most `limit` characters. */
export function oneLine(text: string, limit: number): string {
  return bounded(text, limit, (all) => all.replaceAll(/\s+/g, ' '))
}

/** The same for prose, which may have paragraphs. */
export function paragraphs(text: string, limit: number): string {
  return bounded(text, limit, (all) => all.replaceAll(/\n{3,}/g, '\n\n'))
}

/** A name in a text. */
export function nameIn(name: string, limit: number): string {
  return isolated(oneLine(name, limit - 2))
}

/** Isolates right-to-left text. Otherwise the numbers that follow would run with it, and seem to belong to another name. */
export function isolated(text: string): string {
  return /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/.test(text) ? `\u2068${text}\u2069` : text
}

/** The first ones, and how many more there are: `and 189 more`, or nothing. */
export function firstOf<T>(items: readonly T[], most: number): { first: T[]; more: string[] } {
  const rest = items.length - most
  return { first: items.slice(0, most), more: rest > 0 ? [`and ${formatNumber(rest)} more`] : [] }
}

/** Cut after a word, unless that is very long; without halves of characters, controls, and format characters such as marks that change the direction. */
function bounded(text: string, limit: number, joined: (all: string) => string): string {
  // The end of a text that is far too long is not read.
  const visible = joined(plainText(text.slice(0, 4 * limit).toWellFormed())).trim()
  let width = 0
  let kept = ''
  for (const character of visible) {
    width += WIDTHS[character] ?? character.length
    if (width > limit) return `${/\s/.test(visible[kept.length]!) ? kept : kept.replace(/[,;:]?\s\S{0,19}$/, '')}…`
    if (width < limit) kept += character
  }
  return visible
}
