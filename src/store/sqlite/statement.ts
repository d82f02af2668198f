import { GIVEN, givenColumns } from '../sql.ts'

/** Whether a statement does nothing with its relation `given` but to insert its rows: then it may have several at a time. */
export function isPlainInsert(statement: string): boolean {
  const columns = givenColumns(statement)?.join(', ') ?? ''
  return statement.includes(`SELECT ${columns} FROM given(`) && statement.includes(') WHERE true')
}

/** The same statement in SQLite's own words, with so many rows as its parameters. */
export function insertOf(statement: string, rows: number): string {
  const columns = givenColumns(statement)!
  const select = `SELECT ${columns.join(', ')} FROM given(`
  const [begin, end] = [statement.slice(0, statement.indexOf(select)), statement.split(') WHERE true')[1]]
  const row = `(${columns.map(() => '?').join(', ')})`
  return sqliteStatement(`${begin} VALUES ${Array.from({ length: rows }, () => row).join(', ')} ${end}`)
}

/** A statement in SQLite's own words, whose relation `given` is one row of parameters. */
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
