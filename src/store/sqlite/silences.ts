import type { DatabaseSync } from 'node:sqlite'
import type { Silence } from '../../alerts/match.ts'
import { silenceOf } from '../rows.ts'
import type { SilenceBook } from '../store.ts'
import { openExisting } from './open-database.ts'
import { attempting } from './sqlite-error.ts'

/**
 * Opens a store for its silences alone, without its lock: the daemon that uses it applies them when it reads them next.
 *
 * @throws {StoreError} refused: there is none, it is in memory, another program's, of another schema, or damaged
 */
export function openSqliteSilences(path: string): SilenceBook {
  const db = openExisting(path, { readOnly: false })
  const { answer } = attempting(path)
  const { silences, addSilence, endSilence } = silencesIn(db)
  return {
    silences: (now) => answer(() => silences(now)),
    addSilence: (silence) => answer(() => addSilence(silence)),
    endSilence: (id) => answer(() => endSilence(id)),
    close: () => answer(() => db.close()),
  }
}

/** The silences of a database. */
export function silencesIn(db: DatabaseSync) {
  return {
    silences: (now: number): Silence[] =>
      db.prepare('SELECT id, data FROM silences WHERE until > ? ORDER BY id').all(now).map(silenceOf),
    addSilence: (silence: Omit<Silence, 'id'>): Silence => {
      db.prepare('DELETE FROM silences WHERE until <= ?').run(silence.since)
      const insert = db.prepare('INSERT INTO silences (until, data) VALUES (?, ?)')
      const { lastInsertRowid } = insert.run(silence.until, JSON.stringify(silence))
      return { id: Number(lastInsertRowid), ...silence }
    },
    endSilence: (id: number): boolean => db.prepare('DELETE FROM silences WHERE id = ?').run(id).changes === 1,
  }
}
