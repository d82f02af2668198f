import { withoutNoise } from './without-noise.ts'

/** A line of CSV (RFC 4180). Texts are quoted if needed; a missing value is empty; numbers have no noise of floating point. */
export function csvLine(fields: readonly (string | number | boolean | null | undefined)[]): string {
  const texts = fields.map((field) => (typeof field === 'string' ? quote(field) : String(withoutNoise(field) ?? '')))
  return `${texts.join(',')}\r\n`
}

/** Quotes a field. An apostrophe marks a text that a spreadsheet would run as a formula; leading spaces do not matter. */
function quote(text: string): string {
  const harmless = /^[=+\-@＝＋－＠\s\p{Cc}\p{Cf}]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
