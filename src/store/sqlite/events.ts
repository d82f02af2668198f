import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { loggedEventsOf } from '../rows.ts'
import type { LoggedEvents, Store } from '../store.ts'

type Methods = 'events' | 'latestEvents'
type EventsIn = { [M in Methods]: (...args: Parameters<Store[M]>) => LoggedEvents[] }

const ROWS = 'SELECT position, id, target, at, n, total, data FROM events'

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
