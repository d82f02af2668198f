import { COPY_BATCH, columnsOf, type ColumnKind, type CopyRow, type CopyTable, type CopyValue } from '../copy-tables.ts'
import type { Session } from './connection.ts'

/** Those tables know their target by its number; `receivers` knows it by its name. */
const NUMBERED: readonly CopyTable[] = ['calls', 'counters', 'settled', 'alerts', 'usage', 'evaluations']

/** Whether rows of a table know their target by its number. */
export function isNumbered(table: CopyTable): boolean {
  return NUMBERED.includes(table)
}

/** A text is compared byte by byte, whatever the language of the database. */
const ordered = (name: string) => `${name} COLLATE "C"`

const SELECTS: Readonly<Record<CopyTable, string>> = {
  targets: `SELECT name, fingerprint, seq, facts FROM callwatch.targets ORDER BY ${ordered('name')}`,
  calls: ofTarget('calls', 'id, finished, remembered, data', ordered('id')),
  counters: ofTarget('counters', 'series, value', ordered('series')),
  settled: ofTarget('settled', 'quantity, value', ordered('quantity')),
  alerts: ofTarget('alerts', 'alert, data', ordered('alert')),
  usage: ofTarget('usage', 'quarter, minutes', 'quarter'),
  evaluations: ofTarget('evaluations', 'hour, data', 'hour'),
  outbox: 'SELECT id, notifier, claimed, data FROM callwatch.outbox ORDER BY id',
  receivers: `
    SELECT target, alert, notifier FROM callwatch.receivers
    ORDER BY ${['target', 'alert', 'notifier'].map(ordered).join(', ')}`,
  put_out: `SELECT name, extract(epoch FROM at)::float8 AS at FROM callwatch.put_out ORDER BY ${ordered('name')}`,
  silences: 'SELECT id, until, data FROM callwatch.silences ORDER BY id',
  holds: `SELECT key, until FROM callwatch.holds ORDER BY ${ordered('key')}`,
}

function ofTarget(table: CopyTable, columns: string, order: string): string {
  return `
    SELECT name AS target, ${columns} FROM callwatch.targets JOIN callwatch.${table} ON target = number
    ORDER BY ${ordered('name')}, ${order}`
}

let cursors = 0

/** The rows of a table for a copy, in batches. Within a transaction: they are taken from a cursor. */
export async function* copyRows({ run }: Session, table: CopyTable): AsyncGenerator<readonly CopyRow[]> {
  const columns = columnsOf(table)
  const cursor = `copied_${cursors++}`
  await run(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${SELECTS[table]}`)
  try {
    for (;;) {
      const rows = await run(`FETCH ${COPY_BATCH} FROM ${cursor}`)
      if (rows.length > 0) yield rows.map((row) => columns.map(([name, kind]) => valueOf(row[name], kind)))
      if (rows.length < COPY_BATCH) return
    }
  } finally {
    // Where the transaction has failed, the cursor is gone.
    await run(`CLOSE ${cursor}`).catch(() => undefined)
  }
}

function valueOf(value: unknown, kind: ColumnKind): CopyValue {
  // The client gives a bigint as text; the rest is what the column says.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has no other types
  return kind === 'whole' || kind === 'flag' ? Number(value) : (value as CopyValue)
}
