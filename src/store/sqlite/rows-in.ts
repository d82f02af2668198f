import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ReadRow } from '../row-reader.ts'

const MAX_PREPARED = 50

/** Runs queries as `RowReader.rows` has them. */
export function rowsIn(db: DatabaseSync): (statement: string, args: readonly (string | number)[]) => ReadRow[] {
  const prepared = new Map<string, StatementSync>()
  return (statement, args) => {
    const known = prepared.get(statement) ?? db.prepare(sqliteOf(statement))
    if (prepared.size === MAX_PREPARED) prepared.clear()
    prepared.set(statement, known)
    return known.all(...args)
  }
}

/** The same query in SQLite's own way. */
function sqliteOf(statement: string): string {
  return statement.replaceAll(/\$(\d+)/g, '?$1').replaceAll('callwatch.', '')
}
