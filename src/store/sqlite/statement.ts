import { GIVEN, givenColumns } from '../sql.ts'

/** Whether a statement only inserts the rows of its relation `given`. Then it can have several rows at a time. */
export function isPlainInsert(statement: string): boolean {
  const columns = givenColumns(statement)?.join(', ') ?? ''
  return statement.includes(`SELECT ${columns} FROM given(`) && statement.includes(') WHERE true')
}

/** Translates a statement to SQLite's SQL, with a number of rows as parameters. */
export function insertOf(statement: string, rows: number): string {
  const columns = givenColumns(statement)!
  const select = `SELECT ${columns.join(', ')} FROM given(`
  const [begin, end] = [statement.slice(0, statement.indexOf(select)), statement.split(') WHERE true')[1]]
  const row = `(${columns.map(() => '?').join(', ')})`
  return sqliteStatement(`${begin} VALUES ${Array.from({ length: rows }, () => row).join(', ')} ${end}`)
}

/** Translates a statement to SQLite's SQL, with one row of parameters as the relation `given`. */
export function sqliteStatement(statement: string): string {
  const columns = givenColumns(statement) ?? []
  const row = `(SELECT ${columns.map((name, i) => `$${i + 1} AS ${name}`).join(', ')}) AS given`
  return statement
    .replace(GIVEN, () => row)
    .replaceAll(/IN (?:texts|wholes)\((\$\d+)\)/g, 'IN (SELECT value FROM json_each($1))')
    .replaceAll(/::\w+/g, '')
    .replaceAll(/ FOR UPDATE(?: OF \w+)?(?: SKIP LOCKED)?/g, '')
    .replaceAll('greatest(', 'max(')
    .replaceAll('least(', 'min(')
    .replaceAll('callwatch.', '')
    .replaceAll(/\$(\d+)/g, '?$1')
}
