import type { DatabaseSync } from 'node:sqlite'
import { COPY_BATCH, columnsOf, type CopyRow, type CopyTable, type CopyValue } from '../copy-tables.ts'

/** Calls know their target by its number; all others by its name. Texts are compared byte by byte. */
const SELECTS: Readonly<Record<CopyTable, string>> = {
  targets: 'SELECT name, fingerprint, seq, facts FROM targets ORDER BY name',
  calls: `
    SELECT name AS target, id, finished, remembered, data FROM targets CROSS JOIN calls ON target = number
    ORDER BY name, id`,
  counters: 'SELECT target, series, value FROM counters ORDER BY target, series',
  settled: 'SELECT target, quantity, value FROM settled ORDER BY target, quantity',
  alerts: 'SELECT target, alert, data FROM alerts ORDER BY target, alert',
  usage: 'SELECT target, quarter, minutes FROM usage ORDER BY target, quarter',
  evaluations: 'SELECT target, hour, data FROM evaluations ORDER BY target, hour',
  outbox: 'SELECT id, notifier, claimed, data FROM outbox ORDER BY id',
  receivers: 'SELECT target, alert, notifier FROM receivers ORDER BY target, alert, notifier',
  put_out: 'SELECT name, at FROM put_out ORDER BY name',
  silences: 'SELECT id, until, data FROM silences ORDER BY id',
  holds: 'SELECT key, until FROM holds ORDER BY key',
}

/** The rows of a table for a copy, in batches. */
export function* copyRows(db: DatabaseSync, table: CopyTable): Generator<readonly CopyRow[]> {
  const names = columnsOf(table).map(([name]) => name)
  let batch: CopyRow[] = []
  for (const row of db.prepare(SELECTS[table]).iterate()) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has no other types
    batch.push(names.map((name) => row[name] as CopyValue))
    if (batch.length < COPY_BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
