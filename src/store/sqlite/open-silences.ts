import { deleteSilence, insertSilence, readSilences } from './silences.ts'
import { openExisting } from './open-existing.ts'
import { sqliteError } from './sqlite-error.ts'
import type { SilenceBook } from '../silence-book.ts'

/**
 * Opens a store for its silences alone, without its lock: the daemon that uses it sees them the next time that it looks.
 *
 * @throws {StoreError} refused: there is none, it is in memory, another program's, of another schema, or damaged
 */
export function openSilences(path: string): SilenceBook {
  const db = openExisting(path, { readOnly: false })
  const answer = async <T>(work: () => T): Promise<T> => {
    try {
      return work()
    } catch (error) {
      throw sqliteError(error, path)
    }
  }
  return {
    silences: (now) => answer(() => readSilences(db, now)),
    addSilence: (silence) => answer(() => insertSilence(db, silence)),
    endSilence: (id) => answer(() => deleteSilence(db, id)),
    close: () => answer(() => db.close()),
  }
}
