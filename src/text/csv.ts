import { withoutNoise } from './without-noise.ts'

/** CSV as RFC 4180 defines it, or as a spreadsheet expects it where numbers have a decimal comma: with `;`, and a mark of UTF-8. */
export type CsvFormat = 'csv' | 'excel'

/** A line of CSV. Texts are quoted if needed; a missing value is empty; numbers have no noise of floating point. */
export function csvLine(fields: readonly (string | number | boolean | null | undefined)[], format: CsvFormat): string {
  const [separator, point] = format === 'excel' ? [';', ','] : [',', '.']
  const texts = fields.map((field) =>
    typeof field === 'string' ? quote(field, format) : String(withoutNoise(field) ?? '').replace('.', point),
  )
  return `${texts.join(separator)}\r\n`
}

/**
 * Texts, such as ids, that a spreadsheet would turn into numbers or dates: with a digit first, or after the name of a month. The dates
 * of callwatch stay dates. As a formula of one constant, a text stays what it is; without a quotation mark it cannot leave the constant.
 */
const CONVERTED = /^(?!\d{4}-\d\d-\d\d(?:T|$))(?:\p{L}{3,9}[-/. ]?|[(.,$€£¥])?\d[^"\p{C}]{0,240}$/u

/** Quotes a field. An apostrophe marks a text that a spreadsheet would run as a formula; leading spaces do not matter. */
function quote(text: string, format: CsvFormat): string {
  const mark = /^[=+\-@＝＋－＠\s\p{Cc}\p{Cf}]/u.test(text) ? "'" : ''
  const harmless = format === 'excel' && CONVERTED.test(text) ? `="${text}"` : mark + text
  return /[",;\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
