import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { callOfRow } from '../../../src/store/call-columns.ts'

/** What is in the store of a daemon. */
export type LeftStore = {
  calls: Map<string, TrackedCall>
  counters: Map<string, number>
  /** All its bytes. */
  bytes: string
}

export function readStore(path: string): LeftStore {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = db.prepare('SELECT * FROM calls').all()
    return {
      counters: new Map(
        db
          .prepare('SELECT series, value FROM counters')
          .all()
          .map(({ series, value }) => [String(series), Number(value)]),
      ),
      calls: new Map(rows.map((row) => [String(row['id']), callOfRow(row)])),
      bytes: readFileSync(path, 'latin1'),
    }
  } finally {
    db.close()
  }
}
