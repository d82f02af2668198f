import { existsSync } from 'node:fs'
import { expectEmpty, type CopyDestination, type CopySource } from '../copy.ts'
import { StoreError } from '../store-error.ts'
import { sqliteEngine } from './engine.ts'
import { holdStore, openExisting, openOwn } from './open-database.ts'
import { attempt } from './sqlite-error.ts'
import { sqlInPlace } from './sqlite-sql.ts'

/**
 * Opens a store to copy it. No daemon can open it meanwhile.
 *
 * @throws {StoreError} refused: there is none, a daemon uses it, it is in memory, not ours, of another schema, or damaged
 */
export function openSqliteSource(path: string): CopySource {
  // A file that is no store is not locked.
  openExisting(path, { readOnly: true }).close()
  return attempt(path, () => {
    using opening = new DisposableStack()
    if (opening.use(holdStore(path)) === undefined) throw inUse(path)
    const db = opening.use(openExisting(path, { readOnly: true, checked: true }))
    const opened = opening.move()
    return sqlInPlace(sqliteEngine(db, { close: () => opened.dispose() }), path)
  })
}

/**
 * Opens an empty store to copy another one into it, and creates it if it does not exist. No daemon can open it meanwhile.
 *
 * @throws {StoreError} refused: it is not empty, in use, in memory, not ours, of another schema, or damaged
 */
export async function openSqliteDestination(path: string): Promise<CopyDestination> {
  if (path === ':memory:') throw new StoreError('refused', 'a copy in memory would be gone at once; name a file')
  if (existsSync(path)) {
    // The store is read before it is migrated, so that a refused store stays unchanged.
    using found = openExisting(path, { readOnly: true })
    await expectEmpty(sqlInPlace(sqliteEngine(found), path), 'name a file that does not exist')
  }
  // A daemon that opens the copy needs that as well, and says so.
  const { db, close } = openOwn({ path, pathOnNetwork: true })
  const sql = sqlInPlace(sqliteEngine(db, { close }), path)
  attempt(path, () => db.exec('BEGIN IMMEDIATE'))
  return { ...sql, commit: async () => attempt(path, () => db.exec('COMMIT')) }
}

function inUse(path: string): StoreError {
  return new StoreError(
    'refused',
    `${path} is in use by a callwatch, which would continue counting there; stop it before the store is copied`,
  )
}
