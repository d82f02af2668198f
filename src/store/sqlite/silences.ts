import type { DatabaseSync } from 'node:sqlite'
import type { Silence } from '../../alerts/match.ts'
import { silenceOf } from '../rows.ts'

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
