import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { AlertInstance } from '../../alerts/alert-instance.ts'
import type { EvaluationRecord } from '../../alerts/trigger.ts'
import type { Quantity } from '../../ledger/balance.ts'
import { readCall, RECORD_BYTES } from '../../ledger/call-record.ts'
import { HISTORY_COLUMNS, historyColumns } from '../../ledger/history-columns.ts'
import type { SyncState } from '../../ledger/state.ts'
import { hourOf, packEvaluation } from '../evaluation-log.ts'
import type { eventColumns } from '../rows.ts'
import { StoreError, type Gap, type RoutedChange } from '../store.ts'
import { overwriteDeleted } from './events.ts'
import type { sqliteOutbox } from './outbox.ts'
import type { rollupsIn } from './rollups.ts'

/** Calls side by side: their ids, and their records (call-record.ts) in the same order. */
export type PackedCalls = { ids: readonly string[]; records: Uint8Array<ArrayBuffer> }

/** A {@link Commit} as values that a thread can send to another. */
export type PackedCommit = {
  sync: SyncState
  calls: PackedCalls
  /** Ids of calls that stay in the history alone. */
  evicted: readonly string[]
  /** Ids of calls that were never counted, whose rows are deleted. */
  deleted: readonly string[]
  counters: ReadonlyMap<string, number>
  usage: ReadonlyMap<number, number>
  stale: ReadonlySet<number>
  alerts: { changed: readonly AlertInstance[]; ended: readonly string[] }
  routedChanges: readonly RoutedChange[]
  evaluated: EvaluationRecord | undefined
  events: PackedEvents | undefined
  gap: Gap | undefined
}

/** Events as a row has them: one text is sent to the thread in a fraction of the time of many. */
export type PackedEvents = ReturnType<typeof eventColumns>

/** Calls in one INSERT: past a hundred, more rows a statement gain nothing. */
const ROWS_A_STATEMENT = 100

/** The rows of commits. Nothing here begins a transaction: the caller does. */
export function commitWriter(
  db: DatabaseSync,
  outbox: Pick<ReturnType<typeof sqliteOutbox>, 'enqueueChanges'>,
  rollups: Pick<ReturnType<typeof rollupsIn>, 'markStale'>,
) {
  const prepare = (sql: string) => db.prepare(sql)
  const insertCalls = (rows: number) =>
    prepare(`
      INSERT INTO calls (target, id, tracked, data, ${HISTORY_COLUMNS.join(', ')})
      VALUES ${Array.from({ length: rows }, () => `(?, ?, 1, ?${', ?'.repeat(HISTORY_COLUMNS.length)})`).join(', ')}
      ON CONFLICT DO UPDATE SET
        tracked = 1, data = excluded.data, ${HISTORY_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}`)
  const statements = {
    move: prepare('UPDATE targets SET seq = seq + 1, sync = ? WHERE name = ? AND seq = ? RETURNING number'),
    insertMany: insertCalls(ROWS_A_STATEMENT),
    insertOne: insertCalls(1),
    evict: prepare('UPDATE calls SET tracked = 0 WHERE target = ? AND id = ?'),
    deleteCall: prepare('DELETE FROM calls WHERE target = ? AND id = ?'),
    increment: prepare(`
      INSERT INTO counters (target, series, value) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET value = value + excluded.value`),
    setAlert: prepare('INSERT OR REPLACE INTO alerts (target, alert, data) VALUES (?, ?, ?)'),
    deleteAlert: prepare('DELETE FROM alerts WHERE target = ? AND alert = ?'),
    use: prepare(`
      INSERT INTO usage (target, quarter, minutes) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET minutes = minutes + excluded.minutes`),
    logEvaluation: prepare(`
      INSERT INTO evaluations (target, hour, data) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET data = data || excluded.data`),
    logEvents: prepare(`
      INSERT INTO events (id, target, at, n, total, data, participants)
      VALUES (?, ?, ?, ?, ? + coalesce((SELECT total FROM events ORDER BY position DESC LIMIT 1), 0), ?, ?)`),
    addGap: prepare('INSERT INTO gaps (target, began, ended) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    addDeletedCallTotals: prepare('UPDATE deleted_call_totals SET value = value + ? WHERE target = ? AND quantity = ?'),
  }

  function write(target: string, commit: PackedCommit): void {
    const { sync, calls, evicted, deleted, counters, usage, stale, alerts, routedChanges, evaluated, events, gap } =
      commit
    const moved = statements.move.get(JSON.stringify(sync), target, sync.seq - 1)
    if (moved === undefined) {
      throw new StoreError('stale', `the store is not where this daemon left target ${target}: another one wrote to it`)
    }
    const number = Number(moved['number'])
    writeCalls(number, calls)
    for (const id of deleted) statements.deleteCall.run(number, id)
    for (const id of evicted) statements.evict.run(number, id)
    for (const [series, increment] of counters) statements.increment.run(number, series, increment)
    for (const [quarter, minutes] of usage) statements.use.run(number, quarter, minutes)
    rollups.markStale(number, stale)
    for (const instance of alerts.changed) statements.setAlert.run(number, instance.key, JSON.stringify(instance))
    for (const key of alerts.ended) statements.deleteAlert.run(number, key)
    outbox.enqueueChanges(routedChanges)
    if (evaluated !== undefined) {
      statements.logEvaluation.run(number, hourOf(evaluated), packEvaluation(evaluated))
    }
    if (gap !== undefined) statements.addGap.run(number, gap.began, gap.ended)
    logEvents(target, events)
  }

  function logEvents(target: string, events: PackedEvents | undefined): void {
    if (events === undefined) return
    const { id, at, n, data, participants } = events
    if (participants !== '') overwriteDeleted(db)
    statements.logEvents.run(id, target, at, n, n, data, participants)
  }

  /** Adds up what was counted of calls whose rows are deleted in the same transaction. */
  function addDeletedCallTotals(
    target: number,
    amounts: readonly (readonly [quantity: Quantity, amount: number])[],
  ): void {
    for (const [quantity, amount] of amounts) statements.addDeletedCallTotals.run(amount, target, quantity)
  }

  function writeCalls(target: number, { ids, records }: PackedCalls): void {
    const view = new DataView(records.buffer, records.byteOffset)
    const row = (i: number): SQLInputValue[] => {
      const offset = i * RECORD_BYTES
      const record = records.subarray(offset, offset + RECORD_BYTES)
      const columns = historyColumns(readCall(view, offset, ids[i]!))
      return [target, ids[i]!, record, ...HISTORY_COLUMNS.map((name) => columns[name])]
    }
    let next = 0
    while (ids.length - next >= ROWS_A_STATEMENT) {
      const values: SQLInputValue[] = []
      for (const end = next + ROWS_A_STATEMENT; next < end; next++) values.push(...row(next))
      statements.insertMany.run(...values)
    }
    for (; next < ids.length; next++) statements.insertOne.run(...row(next))
  }

  return { write, addDeletedCallTotals, logEvents }
}
