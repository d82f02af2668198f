import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import {
  COPY_BATCH,
  COPY_TABLE_NAMES,
  columnsOf,
  selectRows,
  type CopyRow,
  type CopySource,
  type CopyTable,
  type CopyDestination,
  type CopyValue,
} from '../copy-tables.ts'
import { BASELINE_CODE } from '../../ledger/history-columns.ts'
import { QUARTER_HOUR_SECONDS } from '../../ledger/usage.ts'
import { StoreError } from '../store.ts'
import { holdStore, openExisting, openOwn } from './open-database.ts'
import { attempting, sqliteError } from './sqlite-error.ts'

/**
 * Opens a store for a copy of it, and keeps every daemon away from it meanwhile.
 *
 * @throws {StoreError} refused: there is none, a daemon uses it, it is in memory, not ours, of another schema, or damaged
 */
export function openSqliteSource(path: string): CopySource {
  // What is no store is not held.
  openExisting(path, { readOnly: true }).close()
  let release: (() => void) | undefined
  try {
    release = holdStore(path)
    if (release === undefined) throw inUse(path)
    const db = openExisting(path, { readOnly: true, checked: true })
    return {
      place: path,
      rows: (table) => copyRows(db, path, table),
      close: async () => {
        db.close()
        release?.()
      },
    }
  } catch (error) {
    release?.()
    throw sqliteError(error, path)
  }
}

/**
 * Opens an empty store to copy another one into it, makes it where there is none, and keeps every daemon away from it
 * meanwhile.
 *
 * @throws {StoreError} refused: it is not empty, in use, in memory, not ours, of another schema, or damaged
 */
export function openSqliteDestination(path: string): CopyDestination {
  if (path === ':memory:') throw new StoreError('refused', 'a copy in memory would be gone at once; name a file')
  if (existsSync(path)) expectEmpty(path)
  const { db, release } = openOwn(path)
  const { attempt, answer } = attempting(path)
  const inserts = attempt(() => {
    db.exec('BEGIN IMMEDIATE')
    return new Map(COPY_TABLE_NAMES.map((table) => [table, db.prepare(insertInto(table))]))
  })
  return {
    place: path,
    rows: (table) => copyRows(db, path, table),
    write: (table, rows) => answer(() => rows.forEach((row) => inserts.get(table)!.run(...row))),
    commit: () => answer(() => db.exec(`${COPIED_STALE}; COMMIT`)),
    close: async () => {
      if (db.isTransaction) db.exec('ROLLBACK')
      db.close()
      release()
    },
  }
}

/** Rollups are not copied: they are added up from the copied calls. */
const COPIED_STALE = `
  INSERT INTO stale_rollups (quarter, target, version)
  SELECT DISTINCT CAST(finished / ${QUARTER_HOUR_SECONDS} AS INTEGER) * ${QUARTER_HOUR_SECONDS}, target, 1
  FROM calls WHERE finished IS NOT NULL AND status <> ${BASELINE_CODE}`

/** The rows of a table, in batches. */
async function* copyRows(db: DatabaseSync, path: string, table: CopyTable): AsyncGenerator<readonly CopyRow[]> {
  const names = columnsOf(table).map(([name]) => name)
  // The targets are the outer loop: in another one, all rows would have to be sorted.
  const select = selectRows(table, { schema: '', join: 'CROSS JOIN', bytewise: '' })
  let batch: CopyRow[] = []
  try {
    for (const row of db.prepare(select).iterate()) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has no other types
      batch.push(names.map((name) => row[name] as CopyValue))
      if (batch.length < COPY_BATCH) continue
      yield batch
      batch = []
    }
  } catch (error) {
    throw sqliteError(error, path)
  }
  if (batch.length > 0) yield batch
}

/** Nothing is changed of a store that is refused: it is read before it is migrated. */
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

function insertInto(table: CopyTable): string {
  const columns = columnsOf(table)
  const names = columns.map(([name]) => name)
  const given = columns.map(([, kind]) => (kind === 'target' ? '(SELECT number FROM targets WHERE name = ?)' : '?'))
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${given.join(', ')})`
}

function inUse(path: string): StoreError {
  return new StoreError(
    'refused',
    `${path} is in use by a callwatch, which would go on counting there; stop it before the store is copied`,
  )
}
