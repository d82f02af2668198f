/** A line of CSV (RFC 4180). Texts are quoted if needed; a missing value is empty. */
export function csvLine(fields: readonly (string | number | boolean | null | undefined)[]): string {
  return `${fields.map((field) => (typeof field === 'string' ? quote(field) : String(field ?? ''))).join(',')}\r\n`
}

/** Quotes a field. An apostrophe marks a text that a spreadsheet would run as a formula; leading spaces do not matter. */
function quote(text: string): string {
  const harmless = /^[=+\-@＝＋－＠\s\p{Cc}\p{Cf}]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
