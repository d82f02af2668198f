import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Silence } from '../alerts/silence.ts'
import { deleteSilence, insertSilence, readSilences } from './silences.ts'
import { sqliteError } from './sqlite-error.ts'
import { expectSchema } from './sqlite-schema.ts'
import { StoreError } from './store.ts'

/** The silences of a store, for a command beside the daemon. Every method throws a {@link StoreError}. */
export type SilenceBook = {
  /** Those that have not ended by then (UNIX seconds by the host's clock). */
  list: (now: number) => Silence[]
  add: (silence: Omit<Silence, 'id'>) => Silence
  /** @returns whether there was one */
  end: (id: number) => boolean
  close: () => void
}

/** How long it waits for a store that is busy (milliseconds): the daemon's commits are short. */
const PATIENCE = 5000

/**
 * Opens a store for its silences alone, without its lock: the daemon that uses it sees them the next time that it looks.
 *
 * @throws {StoreError} refused: there is none, it is in memory, another program's, of another schema, or damaged
 */
export function openSilences(path: string): SilenceBook {
  if (path === ':memory:') {
    throw new StoreError(
      'refused',
      'the store is in memory, where only its own daemon sees it; set store.path to a file',
    )
  }
  if (!existsSync(path)) {
    throw new StoreError('refused', `there is no store ${path}; let \`callwatch run\` make it, or set store.path`)
  }
  let db: DatabaseSync | undefined
  const answer = <T>(work: (opened: DatabaseSync) => T): T => {
    try {
      db ??= new DatabaseSync(path, { timeout: PATIENCE })
      return work(db)
    } catch (error) {
      throw sqliteError(error, path)
    }
  }
  try {
    answer((opened) => expectSchema(opened, path))
  } catch (error) {
    db?.close()
    throw error
  }
  return {
    list: (now) => answer((opened) => readSilences(opened, now)),
    add: (silence) => answer((opened) => insertSilence(opened, silence)),
    end: (id) => answer((opened) => deleteSilence(opened, id)),
    close: () => db?.close(),
  }
}
