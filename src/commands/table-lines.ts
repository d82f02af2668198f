/** Where a table is printed: the width of the terminal, and the columns that it can do without, the least important first. */
export type Fit = { width: number; givesWay: readonly string[] }

/**
 * The lines of a table with aligned columns. Columns give way until the rest fits the terminal.
 *
 * @param texts how many columns, from the first one, are left-aligned texts; all others are numbers
 */
export function tableLines(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  texts: number,
  { width, givesWay }: Fit = { width: Infinity, givesWay: [] },
): string[] {
  const widths = header.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)))
  const shown = new Set(header.keys())
  const taken = () => [...shown].reduce((sum, i) => sum + widths[i]! + 2, -2)
  for (const name of givesWay) if (taken() > width) shown.delete(header.indexOf(name))
  return [header, ...rows].map((row) =>
    [...shown]
      .map((i) => (i < texts ? row[i]!.padEnd(widths[i]!) : row[i]!.padStart(widths[i]!)))
      .join('  ')
      .trimEnd(),
  )
}
