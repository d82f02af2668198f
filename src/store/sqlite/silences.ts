import type { DatabaseSync } from 'node:sqlite'
import type { Silence } from '../../alerts/match.ts'
import { editedSilence, silenceOf } from '../rows.ts'

/** The silences of a database. */
export function silencesIn(db: DatabaseSync) {
  return {
    silences: (now: number): Silence[] =>
      db.prepare('SELECT id, until, data FROM silences WHERE until > ? ORDER BY id').all(now).map(silenceOf),
    addSilence: (silence: Omit<Silence, 'id'>): Silence => {
      const insert = db.prepare('INSERT INTO silences (until, data) VALUES (?, ?)')
      const { lastInsertRowid } = insert.run(silence.until, JSON.stringify(silence))
      return { id: Number(lastInsertRowid), ...silence }
    },
    editSilence: ({ id, ...silence }: Silence, now: number): boolean => {
      const row = db.prepare('SELECT id, until, data FROM silences WHERE id = ? AND until > ?').get(id, now)
      const edited = row && editedSilence(silenceOf(row), silence, now)
      if (edited === undefined) return false
      // A command may write in between.
      const update = db.prepare('UPDATE silences SET until = ?, data = ? WHERE id = ? AND until > ? AND data = ?')
      return update.run(edited.until, JSON.stringify(edited), id, now, row!['data']!).changes === 1
    },
    expireSilence: (id: number, now: number): boolean =>
      db.prepare('UPDATE silences SET until = :now WHERE id = :id AND until > :now').run({ id, now }).changes === 1,
    deleteSilences: (before: number): void => {
      db.prepare('DELETE FROM silences WHERE until < ?').run(before)
    },
  }
}
