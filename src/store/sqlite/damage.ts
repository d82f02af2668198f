import { fork } from 'node:child_process'
import { extname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Sql } from '../sql.ts'
import { StoreError } from '../store-error.ts'
import { isDamaged } from './sqlite-error.ts'

const TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rootpage"

/**
 * Makes sure that the first pages of each table can be read. This takes no longer for a large file.
 *
 * @throws {StoreError} refused: a page is damaged
 */
export function expectReadable(db: DatabaseSync, path: string): void {
  try {
    for (const { name } of db.prepare(TABLES).all()) db.prepare(`SELECT * FROM "${String(name)}" LIMIT 1`).get()
  } catch (error) {
    throw isDamaged(error) ? damaged(path, String(error instanceof Error ? error.message : error)) : error
  }
}

/**
 * Makes sure that no page is damaged. Reads the whole file.
 *
 * @throws {StoreError} refused: a page is damaged
 */
export function expectUndamaged(db: DatabaseSync, path: string): void {
  const damage = db.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  if (damage !== 'ok') throw damaged(path, damage)
}

/**
 * The same, table by table, while a daemon uses the file.
 *
 * @param onTable called before each table is read, with the number of tables
 */
export async function checkForDamage(sql: Sql, onTable: (table: string, place: string) => void): Promise<void> {
  const tables = await sql.all(TABLES)
  for (const [i, { name }] of tables.entries()) {
    onTable(String(name), `${i + 1} of ${tables.length}`)
    const [row] = await sql.all(`PRAGMA quick_check("${String(name)}")`)
    if (row!['quick_check'] !== 'ok') throw damaged(sql.place, row!['quick_check'])
  }
}

/** The messages of the program that checks a file: the next table, and at the end the result. */
export type DamageMessage =
  | { table: string; place: string }
  | { storeError: Pick<StoreError, 'kind' | 'message'> | undefined }

/**
 * The same in a separate process. It can be ended at any time, unlike a thread while SQLite reads.
 *
 * @returns `end` ends the process, and then `done` stays pending
 */
export function startCheck(path: string, onTable: (table: string, place: string) => void) {
  const program = new URL(`./damage-main${extname(import.meta.filename)}`, import.meta.url)
  const child = fork(program, [path], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  let isEnded = false
  const done = new Promise<void>((resolve, reject) => {
    child.on('message', (message: DamageMessage) => {
      if ('table' in message) onTable(message.table, message.place)
      else if (message.storeError === undefined) resolve()
      else reject(new StoreError(message.storeError.kind, message.storeError.message))
    })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (!isEnded) reject(new StoreError('unavailable', `the check of ${path} ended early (${signal ?? code})`))
    })
  })
  const end = () => {
    isEnded = true
    child.kill('SIGKILL')
  }
  return { done, end }
}

function damaged(path: string, damage: unknown): StoreError {
  // The first line names the database.
  const what = String(damage).split('\n').at(-1)
  return new StoreError('refused', `${path} is damaged (${what}); restore it from a backup`)
}
