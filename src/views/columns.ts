import * as z from 'zod'
import { valueAt } from '../schema/path.ts'
import { csvLine, type CsvFormat } from '../text/csv.ts'

/** The name of the column of each part of a field. */
const PARTS: Readonly<Record<string, (part: string) => string>> = {
  calls: (status) => (status === 'total' ? 'calls' : status),
  minutes: (media) => `${media}_minutes`,
  participant_minutes: (media) => (media === 'total' ? 'participant_minutes' : `participant_${media}_minutes`),
  invited: (outcome) => `invited_${outcome}`,
  duration_seconds: (figure) => `${figure}_duration_seconds`,
}

/** A column of CSV, and where a view has its value. */
export type Column = { name: string; path: readonly string[] }
export type Cell = string | number | boolean | null | undefined

/** The columns of a view, in its order: one for each field, or for each part of a field that has parts. */
export function columnsOf({ shape }: z.ZodObject): readonly Column[] {
  return Object.entries(shape).flatMap(([field, schema]): Column[] =>
    schema instanceof z.ZodObject
      ? Object.keys(schema.shape).map((part) => ({ name: PARTS[field]!(part), path: [field, part] }))
      : [{ name: field, path: [field] }],
  )
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the schema of the view says
export const cellOf = (view: object, { path }: Column) => valueAt(view, path) as Cell

/** The header of CSV with these columns, and the line of a view. */
export function csvOf(columns: readonly Column[], format: CsvFormat) {
  const names = columns.map(({ name }) => name)
  return {
    header: (format === 'excel' ? '\uFEFF' : '') + csvLine(names, format),
    line: (view: object) => csvLine(columns.map((column) => cellOf(view, column)), format), // oxfmt-ignore
  }
}
