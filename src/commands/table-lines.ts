/**
 * The lines of a table with aligned columns.
 *
 * @param texts how many columns, from the first one, are left-aligned texts; all others are numbers
 */
export function tableLines(header: readonly string[], rows: readonly (readonly string[])[], texts: number): string[] {
  const widths = header.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)))
  return [header, ...rows].map((row) =>
    row
      .map((text, i) => (i < texts ? text.padEnd(widths[i]!) : text.padStart(widths[i]!)))
      .join('  ')
      .trimEnd(),
  )
}
