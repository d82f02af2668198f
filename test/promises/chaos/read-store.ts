import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { callOfRow } from '../../../src/store/call-columns.ts'

/** What is in the store of a daemon. */
export type LeftStore = {
  calls: Map<string, TrackedCall>
  counters: Map<string, number>
  /** What was ever committed to the outbox of one of two receivers, each of which gets all, and what is still in it. */
  outbox: (receiver: string) => { committed: number; left: number }
  /** All its bytes. */
  bytes: string
}

export function readStore(path: string): LeftStore {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = db.prepare('SELECT * FROM calls').all()
    // An AUTOINCREMENT number is given once, and only what was committed keeps its own.
    const sequence = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").get()
    const waiting = db.prepare('SELECT receiver, count(*) AS n FROM outbox GROUP BY receiver').all()
    const left = new Map(waiting.map(({ receiver, n }) => [String(receiver), Number(n)]))
    return {
      counters: new Map(
        db
          .prepare('SELECT series, value FROM counters')
          .all()
          .map(({ series, value }) => [String(series), Number(value)]),
      ),
      calls: new Map(rows.map((row) => [String(row['id']), callOfRow(row)])),
      outbox: (receiver) => ({ committed: Number(sequence?.['seq'] ?? 0) / 2, left: left.get(receiver) ?? 0 }),
      bytes: readFileSync(path, 'latin1'),
    }
  } finally {
    db.close()
  }
}
