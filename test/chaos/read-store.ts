import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { callOf } from '../../src/store/rows.ts'

/** What is in the store of a daemon. */
export type LeftStore = {
  calls: Map<string, TrackedCall>
  counters: Map<string, number>
  /** Messages that were ever committed to the outbox, and those that are still in it. */
  committed: number
  left: number
  /** All its bytes. */
  bytes: string
}

export function readStore(path: string): LeftStore {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = db.prepare('SELECT id, data FROM calls').all()
    // An AUTOINCREMENT number is given once, and only what was committed keeps its own.
    const sequence = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").get()
    return {
      counters: new Map(
        db
          .prepare('SELECT series, value FROM counters')
          .all()
          .map(({ series, value }) => [String(series), Number(value)]),
      ),
      calls: new Map(rows.map((row) => [String(row['id']), callOf(row)])),
      committed: Number(sequence?.['seq'] ?? 0),
      left: Number(db.prepare('SELECT count(*) AS n FROM outbox').get()?.['n']),
      bytes: readFileSync(path, 'latin1'),
    }
  } finally {
    db.close()
  }
}
