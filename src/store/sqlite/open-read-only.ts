import { countedAmounts, sumOfAmounts } from '../../ledger/balance.ts'
import { rememberedCalls } from '../../ledger/remembered-calls.ts'
import type { Facts } from '../../ledger/state.ts'
import { callOf } from '../call-row.ts'
import { HOUR, unpackEvaluated } from '../evaluation-log.ts'
import { settledAmounts } from '../settled.ts'
import type { StoreReader } from '../store-reader.ts'
import { openExisting } from './open-existing.ts'
import { sqliteError } from './sqlite-error.ts'

/** Calls know their target by its number. */
const OF_TARGET = 'target = (SELECT number FROM targets WHERE name = ?)'

/**
 * Opens a store beside the daemon that may be using it: without its lock, and without writing.
 *
 * @throws {StoreError} refused: there is none, it is in memory, another program's, a newer callwatch's, or damaged
 */
export function openReadOnly(path: string): StoreReader {
  const db = openExisting(path, { readOnly: true })
  const attempt = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw sqliteError(error, path)
    }
  }
  const read = async <T>(work: () => T): Promise<T> => attempt(work)
  const statements = attempt(() => ({
    target: db.prepare('SELECT fingerprint, facts FROM targets WHERE name = ?'),
    calls: db.prepare(`SELECT id, data FROM calls WHERE ${OF_TARGET} AND remembered = 1`),
    call: db.prepare(`SELECT id, data FROM calls WHERE ${OF_TARGET} AND id = ? AND remembered = 1`),
    rows: db.prepare(`SELECT id, data FROM calls WHERE ${OF_TARGET}`),
    counters: db.prepare('SELECT series, value FROM counters WHERE target = ?'),
    settled: db.prepare('SELECT quantity, value FROM settled WHERE target = ?'),
    evaluations: db.prepare('SELECT hour, data FROM evaluations WHERE target = ? AND hour >= ? ORDER BY hour'),
    finishes: db.prepare(`SELECT id, data FROM calls WHERE ${OF_TARGET} AND remembered IN (0, 1) AND finished >= ?`),
    hold: db.prepare('SELECT until FROM holds WHERE key = ?'),
  }))
  return {
    place: path,
    target: (name) =>
      read(() => {
        const row = statements.target.get(name)
        if (row === undefined) return undefined
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the daemon's store only
        return { fingerprint: String(row['fingerprint']), facts: JSON.parse(String(row['facts'])) as Facts }
      }),
    calls: (target) =>
      read(() => {
        const calls = rememberedCalls()
        for (const row of statements.calls.iterate(target)) {
          calls.set(callOf(row))
        }
        return calls
      }),
    call: (target, id) =>
      read(() => {
        const row = statements.call.get(target, id)
        return row && callOf(row)
      }),
    balance: (target) =>
      read(() => {
        db.exec('BEGIN')
        try {
          return {
            counters: countedAmounts(
              statements.counters.all(target).map(({ series, value }) => [String(series), Number(value)]),
            ),
            rows: sumOfAmounts(statements.rows.iterate(target).map(callOf)),
            settled: settledAmounts(statements.settled.all(target)),
          }
        } finally {
          db.exec('COMMIT')
        }
      }),
    evaluations: (target, since) =>
      read(() => {
        const rows = statements.evaluations.all(target, Math.floor(since / HOUR) * HOUR)
        return rows
          .flatMap(({ hour, data }) => unpackEvaluated(Number(hour), String(data)))
          .filter(({ at }) => at >= since)
      }),
    finishes: (target, since) =>
      read(() => {
        const rows = statements.finishes.all(target, since)
        return rows.map((row) => callOf(row).finish!)
      }),
    heldUntil: (key) =>
      read(() => {
        const row = statements.hold.get(key)
        return row && Number(row['until'])
      }),
    close: () => read(() => db.close()),
  }
}
