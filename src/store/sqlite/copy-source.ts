import type { CopySource } from '../copy-tables.ts'
import { StoreError } from '../store.ts'
import { copyRows } from './copy-rows.ts'
import { takeLock } from './lock.ts'
import { openExisting } from './open-existing.ts'
import { sqliteError } from './sqlite-error.ts'

/**
 * Opens a store for a copy of it, and keeps every daemon away from it meanwhile.
 *
 * @throws {StoreError} refused: there is none, a daemon uses it, it is in memory, not ours, of another schema, or damaged
 */
export function openSqliteSource(path: string): CopySource {
  const db = openExisting(path, { readOnly: true })
  try {
    const release = takeLock(`${path}.lock`)
    if (release === undefined) throw inUse(path)
    return {
      place: path,
      rows: async function* (table) {
        try {
          yield* copyRows(db, table)
        } catch (error) {
          throw sqliteError(error, path)
        }
      },
      close: async () => {
        db.close()
        release()
      },
    }
  } catch (error) {
    db.close()
    throw sqliteError(error, path)
  }
}

function inUse(path: string): StoreError {
  return new StoreError(
    'refused',
    `${path} is in use by a callwatch, which would go on counting there; stop it before the store is copied`,
  )
}
