import { fork } from 'node:child_process'
import { extname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { OnTable } from '../store.ts'
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
 * Makes sure that no page is damaged. Reads the whole file, or one table.
 *
 * @throws {StoreError} refused: a page is damaged
 */
export function expectUndamaged(db: DatabaseSync, path: string, table?: string): void {
  const damage = db.prepare(`PRAGMA quick_check(${table === undefined ? 1 : `"${table}"`})`).get()?.['quick_check']
  if (damage !== 'ok') throw damaged(path, damage)
}

/** The same, table by table. */
export function checkForDamage(db: DatabaseSync, path: string, onTable: OnTable): void {
  const tables = db.prepare(TABLES).all()
  for (const [i, { name }] of tables.entries()) {
    onTable(String(name), `${i + 1} of ${tables.length}`)
    expectUndamaged(db, path, String(name))
  }
}

/** The messages of the program that checks a file: the next table, and at the end the result. */
export type DamageMessage =
  | { table: string; place: string }
  | { storeError: Pick<StoreError, 'kind' | 'message'> | undefined }

/**
 * The same in a separate process, while a daemon uses the file. It can be ended at any time, unlike a thread while SQLite reads.
 *
 * @param ended ends the process, and then the check stays pending
 */
export function checkApart(path: string, onTable: OnTable, ended: AbortSignal): Promise<void> {
  const program = new URL(`./damage-main${extname(import.meta.filename)}`, import.meta.url)
  const options = { signal: ended, killSignal: 'SIGKILL' } as const
  const child = fork(program, [path], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], ...options })
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      if (!ended.aborted) reject(error)
    }
    child.on('message', (message: DamageMessage) => {
      if ('table' in message) onTable(message.table, message.place)
      else if (message.storeError === undefined) resolve()
      else reject(new StoreError(message.storeError.kind, message.storeError.message))
    })
    child.on('error', fail)
    child.on('exit', (code, signal) => {
      fail(new StoreError('unavailable', `the check of ${path} ended early (${signal ?? code})`))
    })
  })
}

function damaged(path: string, damage: unknown): StoreError {
  // The first line names the database.
  const what = String(damage).split('\n').at(-1)
  return new StoreError('refused', `${path} is damaged (${what}); restore it from a backup`)
}
