import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { COPY_TABLE_NAMES, columnsOf, type CopyRow, type CopyTable, type CopyTarget } from '../copy-tables.ts'
import { StoreError } from '../store.ts'
import { copyRows } from './copy-rows.ts'
import { openExisting } from './open-existing.ts'
import { openOwn } from './open-own.ts'
import { sqliteError } from './sqlite-error.ts'

/**
 * Opens an empty store to copy another one into it, makes it where there is none, and keeps every daemon away from it
 * meanwhile.
 *
 * @throws {StoreError} refused: it is not empty, in use, in memory, not ours, of another schema, or damaged
 */
export function openSqliteTarget(path: string): CopyTarget {
  if (path === ':memory:') throw new StoreError('refused', 'a copy in memory would be gone at once; name a file')
  if (existsSync(path)) expectEmpty(path)
  const { db, release } = openOwn(path)
  const attempt = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw sqliteError(error, path)
    }
  }
  const write = attempt(() => {
    db.exec('BEGIN IMMEDIATE')
    return rowWriter(db)
  })
  return {
    place: path,
    rows: async function* (table) {
      try {
        yield* copyRows(db, table)
      } catch (error) {
        throw sqliteError(error, path)
      }
    },
    write: async (table, rows) => attempt(() => rows.forEach((row) => write(table, row))),
    commit: async () => attempt(() => db.exec('COMMIT')),
    close: async () => {
      if (db.isTransaction) db.exec('ROLLBACK')
      db.close()
      release()
    },
  }
}

/** Nothing is changed of a store that is refused: it is looked at before it is brought to the schema. */
function expectEmpty(path: string): void {
  const db = openExisting(path, { readOnly: true })
  try {
    const filled = COPY_TABLE_NAMES.filter((table) => db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined)
    if (filled.length === 0) return
    throw new StoreError(
      'refused',
      `${path} is not empty: it has ${filled.join(', ')}; name a file that does not exist`,
    )
  } finally {
    db.close()
  }
}

function rowWriter(db: DatabaseSync): (table: CopyTable, row: CopyRow) => void {
  const numbers = new Map<unknown, number>()
  const insertTarget = db.prepare('INSERT INTO targets (name, fingerprint, seq, facts, number) VALUES (?, ?, ?, ?, ?)')
  const inserts = new Map(COPY_TABLE_NAMES.map((table) => [table, db.prepare(insertInto(table))]))
  return (table, row) => {
    const [first, ...rest] = row
    if (table === 'targets') {
      numbers.set(first, numbers.size + 1)
      insertTarget.run(...row, numbers.size)
    } else {
      inserts.get(table)!.run(table === 'calls' ? numbers.get(first)! : first!, ...rest)
    }
  }
}

function insertInto(table: CopyTable): string {
  const names = columnsOf(table).map(([name]) => name)
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
}
