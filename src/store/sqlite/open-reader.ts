import { countedAmounts, sumOfAmounts } from '../../ledger/balance.ts'
import { LOST_CODE } from '../../ledger/history-columns.ts'
import { trackedCalls } from '../../ledger/tracked-calls.ts'
import type { SyncState } from '../../ledger/state.ts'
import { HOUR } from '../evaluation-log.ts'
import { callOf, evaluationsOf, parse, deletedCallTotals } from '../rows.ts'
import type { StoreReader } from '../store-reader.ts'
import { eventsIn } from './events.ts'
import { openExisting } from './open-database.ts'
import { rowsIn } from './rows-in.ts'
import { attempting } from './sqlite-error.ts'

const OF_TARGET = 'target = (SELECT number FROM targets WHERE name = ?)'

/**
 * Opens a store while a daemon may be using it: without its lock, and without writing.
 *
 * @throws {StoreError} refused: there is none, it is in memory, another program's, of another schema, or damaged
 */
export function openSqliteReader(path: string): StoreReader {
  const db = openExisting(path, { readOnly: true })
  const { attempt, answer } = attempting(path)
  const statements = attempt(() => ({
    target: db.prepare('SELECT fingerprint, sync FROM targets WHERE name = ?'),
    calls: db.prepare(`SELECT id, data FROM calls WHERE ${OF_TARGET} AND tracked = 1`),
    call: db.prepare(`SELECT id, data FROM calls WHERE ${OF_TARGET} AND id = ? AND tracked = 1`),
    rows: db.prepare(`SELECT id, data FROM calls WHERE ${OF_TARGET}`),
    counters: db.prepare(`SELECT series, value FROM counters WHERE ${OF_TARGET}`),
    deletedTotals: db.prepare(`SELECT quantity, value FROM deleted_call_totals WHERE ${OF_TARGET}`),
    evaluations: db.prepare(`SELECT hour, data FROM evaluations WHERE ${OF_TARGET} AND hour >= ? ORDER BY hour`),
    finishes: db.prepare(`SELECT id, data FROM calls WHERE ${OF_TARGET} AND finished >= ? AND status <> ${LOST_CODE}`),
    pausedUntil: db.prepare('SELECT until FROM pauses WHERE key = ?'),
  }))
  const events = attempt(() => eventsIn(db))
  const rows = rowsIn(db)
  return {
    place: path,
    target: (name) =>
      answer(() => {
        const row = statements.target.get(name)
        if (row === undefined) return undefined
        return { fingerprint: String(row['fingerprint']), sync: parse<SyncState>(row['sync']) }
      }),
    calls: (target) =>
      answer(() => {
        const calls = trackedCalls()
        for (const row of statements.calls.iterate(target)) calls.set(callOf(row))
        return calls
      }),
    call: (target, id) =>
      answer(() => {
        const row = statements.call.get(target, id)
        return row && callOf(row)
      }),
    balance: (target) =>
      answer(() => {
        db.exec('BEGIN')
        try {
          return {
            counters: countedAmounts(
              statements.counters.all(target).map(({ series, value }) => [String(series), Number(value)]),
            ),
            rows: sumOfAmounts(statements.rows.iterate(target).map(callOf)),
            deletedTotals: deletedCallTotals(statements.deletedTotals.all(target)),
          }
        } finally {
          db.exec('COMMIT')
        }
      }),
    evaluations: (target, since) =>
      answer(() => evaluationsOf(statements.evaluations.all(target, Math.floor(since / HOUR) * HOUR), since)),
    finishes: (target, since) => answer(() => statements.finishes.all(target, since).map((row) => callOf(row).finish!)),
    pausedUntil: (key) =>
      answer(() => {
        const row = statements.pausedUntil.get(key)
        return row && Number(row['until'])
      }),
    events: (position, most) => answer(() => events.events(position, most)),
    latestEvents: (most) => answer(() => events.latestEvents(most)),
    rows: (statement, args) => answer(() => rows(statement, args)),
    close: () => answer(() => db.close()),
  }
}
