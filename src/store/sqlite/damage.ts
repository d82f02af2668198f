import type { DatabaseSync } from 'node:sqlite'
import type { Sql } from '../sql.ts'
import { StoreError } from '../store-error.ts'
import { isDamaged } from './sqlite-error.ts'

const TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rootpage"

/**
 * Makes sure that the first pages of each table can be read, which takes no longer for a large file.
 *
 * @throws {StoreError} refused: one is damaged
 */
export function expectReadable(db: DatabaseSync, path: string): void {
  try {
    for (const { name } of db.prepare(TABLES).all()) db.prepare(`SELECT * FROM "${String(name)}" LIMIT 1`).get()
  } catch (error) {
    throw isDamaged(error) ? damaged(path, String(error instanceof Error ? error.message : error)) : error
  }
}

/**
 * Makes sure that no page is damaged: reads the whole file.
 *
 * @throws {StoreError} refused: one is
 */
export function expectUndamaged(db: DatabaseSync, path: string): void {
  const damage = db.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  if (damage !== 'ok') throw damaged(path, damage)
}

/**
 * The same, table by table, beside a daemon.
 *
 * @param onTable called before each table is read, of so many
 */
export async function checkForDamage(sql: Sql, onTable: (table: string, place: string) => void): Promise<void> {
  const tables = await sql.all(TABLES)
  for (const [i, { name }] of tables.entries()) {
    onTable(String(name), `${i + 1} of ${tables.length}`)
    const [row] = await sql.pragma!(`quick_check("${String(name)}")`)
    if (row!['quick_check'] !== 'ok') throw damaged(sql.place, row!['quick_check'])
  }
}

function damaged(path: string, damage: unknown): StoreError {
  // The first line says which database.
  const what = String(damage).split('\n').at(-1)
  return new StoreError('refused', `${path} is damaged (${what}); restore it from a backup`)
}
