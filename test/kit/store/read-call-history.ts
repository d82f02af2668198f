import { DatabaseSync } from 'node:sqlite'
import type { StoreAddress } from '../../../src/store/open-store.ts'
import { connect } from '../../../src/store/postgres/connection.ts'

/** A row of `call_history` by its columns, in one form for both kinds of stores: times as UNIX seconds, flags as such. */
export type HistoryRow = Record<string, unknown>

const TIMES = ['began', 'finished', 'noticed']

/** All rows of a store's `call_history`, read beside whoever uses it, in the order of target and id. */
export async function readCallHistory(address: StoreAddress): Promise<HistoryRow[]> {
  const rows = await ('url' in address ? inPostgres(address.url) : inSqlite(address.path))
  return rows
    .map((row) => ({ ...row, has_recording: Boolean(row['has_recording']) }))
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** In which rows are compared. A store of version 1 has no `call_id`. */
export const keyOf = ({ target, session_id, call_id = session_id }: HistoryRow): string =>
  JSON.stringify([target, call_id])

function inSqlite(path: string): HistoryRow[] {
  using db = new DatabaseSync(path, { readOnly: true })
  return db.prepare('SELECT * FROM call_history').all()
}

async function inPostgres(url: string): Promise<HistoryRow[]> {
  const connection = await connect(url)
  try {
    // A Date has milliseconds only.
    const exact = TIMES.map((name) => `extract(epoch FROM ${name})::float8 AS exact_${name}`)
    const rows = await connection.run(`SELECT *, ${exact.join(', ')} FROM callwatch.call_history`)
    return rows.map(({ exact_began, exact_finished, exact_noticed, ...row }) => {
      return Object.assign(row, { began: exact_began, finished: exact_finished, noticed: exact_noticed })
    })
  } finally {
    await connection.close()
  }
}
