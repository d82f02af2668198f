import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { sqliteError } from './sqlite-error.ts'
import { expectSchema } from './schema.ts'
import { StoreError } from '../store.ts'

/** How long one waits for a store that is busy (milliseconds): it is so for moments only. */
const PATIENCE = 5000

/**
 * Opens the database of a store beside the daemon that may be using it, without its lock.
 *
 * @throws {StoreError} refused: there is none, it is in memory, another program's, of another schema, or damaged
 */
export function openExisting(path: string, { readOnly }: { readOnly: boolean }): DatabaseSync {
  if (path === ':memory:') {
    throw new StoreError(
      'refused',
      'the store is in memory, where only its own daemon sees it; set store.path to a file',
    )
  }
  if (!existsSync(path)) {
    throw new StoreError(
      'refused',
      `there is no store ${path}: its name is another one, or callwatch has not run with it yet`,
    )
  }
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path, { readOnly, timeout: PATIENCE })
    expectSchema(db, path)
    return db
  } catch (error) {
    db?.close()
    throw sqliteError(error, path)
  }
}
