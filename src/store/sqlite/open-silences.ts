import type { Silence } from '../../alerts/silence.ts'
import { deleteSilence, insertSilence, readSilences } from './silences.ts'
import { openExisting } from './open-existing.ts'
import { sqliteError } from './sqlite-error.ts'

/** The silences of a store, for a command beside the daemon. Every method throws a {@link StoreError}. */
export type SilenceBook = {
  /** Those that have not ended by then (UNIX seconds by the host's clock). */
  list: (now: number) => Silence[]
  add: (silence: Omit<Silence, 'id'>) => Silence
  /** @returns whether there was one */
  end: (id: number) => boolean
  close: () => void
}

/**
 * Opens a store for its silences alone, without its lock: the daemon that uses it sees them the next time that it looks.
 *
 * @throws {StoreError} refused: there is none, it is in memory, another program's, of another schema, or damaged
 */
export function openSilences(path: string): SilenceBook {
  const db = openExisting(path, { readOnly: false })
  const answer = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw sqliteError(error, path)
    }
  }
  return {
    list: (now) => answer(() => readSilences(db, now)),
    add: (silence) => answer(() => insertSilence(db, silence)),
    end: (id) => answer(() => deleteSilence(db, id)),
    close: () => db.close(),
  }
}
