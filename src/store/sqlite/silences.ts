import type { DatabaseSync } from 'node:sqlite'
import type { Silence } from '../../alerts/silence.ts'

/** Silences that have not ended by then (UNIX seconds by the host's clock), the oldest first. */
export function readSilences(db: DatabaseSync, now: number): Silence[] {
  const rows = db.prepare('SELECT id, data FROM silences WHERE until > ? ORDER BY id').all(now)
  return rows.map(({ id, data }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by insertSilence only
    const silence = JSON.parse(String(data)) as Omit<Silence, 'id'>
    return { id: Number(id), ...silence }
  })
}

/** Adds a silence; those that have ended go. */
export function insertSilence(db: DatabaseSync, silence: Omit<Silence, 'id'>): Silence {
  db.prepare('DELETE FROM silences WHERE until <= ?').run(silence.since)
  const insert = db.prepare('INSERT INTO silences (until, data) VALUES (?, ?)')
  const { lastInsertRowid } = insert.run(silence.until, JSON.stringify(silence))
  return { id: Number(lastInsertRowid), ...silence }
}

/** Ends a silence at once. @returns whether there was one */
export function deleteSilence(db: DatabaseSync, id: number): boolean {
  return db.prepare('DELETE FROM silences WHERE id = ?').run(id).changes === 1
}
