import type { DatabaseSync } from 'node:sqlite'

/** Runs `work` in a transaction that is kept whole or not at all. Nothing waits inside: node:sqlite is synchronous. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
