import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { loggedEventsOf } from '../rows.ts'
import type { LoggedEvents, Store } from '../store.ts'
import { transaction } from './transaction.ts'

type Methods = 'events' | 'latestEvents'
type EventsIn = { [M in Methods]: (...args: Parameters<Store[M]>) => LoggedEvents[] }

const ROWS = 'SELECT position, id, target, at, n, total, data, participants FROM events'

/** The log of events, read. */
export function eventsIn(db: DatabaseSync): EventsIn {
  const from = db.prepare(`${ROWS} WHERE position >= ? ORDER BY position`)
  const newest = db.prepare(`${ROWS} ORDER BY position DESC`)
  return {
    events: (position, most) => take(from.iterate(position), most),
    latestEvents: (most) => take(newest.iterate(), most).toReversed(),
  }
}

/** Rows, as long as there are no more than `most` events in them; one at least. */
function take(rows: ReturnType<StatementSync['iterate']>, most: number): LoggedEvents[] {
  const taken: LoggedEvents[] = []
  let events = 0
  for (const row of rows) {
    events += Number(row['n'])
    if (taken.length > 0 && events > most) break
    taken.push(loggedEventsOf(row))
  }
  return taken
}

/** Commits of the log at a time: everything else waits meanwhile. */
const ERASED_AT_ONCE = 200

/** Who took part, in the log of events: erases those of some commits. @returns whether there are more of them */
export function participantsEraser(db: DatabaseSync): () => boolean {
  const find = db.prepare(`SELECT position FROM events WHERE participants <> '' ORDER BY position LIMIT ?`)
  const erase = db.prepare(`UPDATE events SET participants = '' WHERE position = ?`)
  const hasMore = () => find.get(1) !== undefined
  // Of an earlier process: what is deleted of them before any is added.
  if (hasMore()) overwriteDeleted(db)
  // That of an earlier process as well, which may have ended in between.
  let isInJournal = true
  return () => {
    const found = find.all(ERASED_AT_ONCE)
    if (found.length > 0) {
      transaction(db, () => {
        for (const { position } of found) erase.run(position!)
      })
      isInJournal = true
    }
    if (hasMore()) return true
    // Earlier writes stay in the journal while a reader needs them. Then the next call empties it.
    if (isInJournal) isInJournal = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] !== 0
    return false
  }
}

/** From now on, what is deleted does not stay in free parts of the file. That costs writes, and so does not always hold. */
export function overwriteDeleted(db: DatabaseSync): void {
  db.exec('PRAGMA secure_delete = ON')
}
