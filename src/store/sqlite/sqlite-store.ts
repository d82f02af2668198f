import type { SQLInputValue } from 'node:sqlite'
import type { AlertInstance } from '../../alerts/alert-instance.ts'
import { QUANTITIES } from '../../ledger/balance.ts'
import { RECORD_BYTES, writeCall } from '../../ledger/call-record.ts'
import { countByStatus } from '../../ledger/finished-calls.ts'
import { newLedger, trackRecord } from '../../ledger/state.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { USAGE_KEPT } from '../../ledger/usage.ts'
import { hourOf, packEvaluated } from '../evaluation-log.ts'
import { alertsByTarget, bytesOf, callOf, ledgerOf, otherTarget, parse, settledOf } from '../rows.ts'
import { StoreError, type Commit, type Store, type StoredTarget, type TargetIdentity } from '../store.ts'
import { finishedCallsIn } from './finished-calls.ts'
import { openOwn } from './open-database.ts'
import { sqliteOutbox } from './outbox.ts'
import { sqliteSilences } from './silences.ts'
import { attempting } from './sqlite-error.ts'

export type SqliteStoreOptions = {
  /** The file, made where it does not exist; `:memory:` keeps nothing. */
  path: string
  /** All that are configured; what waits for any other is removed. */
  notifiers?: readonly string[] | undefined
}

/** Tables with the target's number. */
const OF_TARGET = ['calls', 'counters', 'settled', 'alerts', 'usage', 'evaluations'] as const

/** Calls in one INSERT: past a hundred, more rows a statement gain nothing. */
const ROWS_A_STATEMENT = 100

/** Calls of all targets that are deleted at a time: everything else waits meanwhile. */
const DELETED_AT_ONCE = 2000

/**
 * The embedded store: one SQLite file in WAL mode, every commit on disk before it counts. One daemon a file.
 *
 * @throws {StoreError} refused: the file is in use by another daemon, damaged, or not ours
 */
export function openSqliteStore({ path, notifiers }: SqliteStoreOptions): Store {
  const { db, release } = openOwn(path)
  const { answer } = attempting(path)
  const prepare = (sql: string) => db.prepare(sql)
  const outbox = sqliteOutbox(db, notifiers)
  const insertCalls = (rows: number) =>
    prepare(`
      INSERT INTO calls (target, id, finished, tracked, data)
      VALUES ${Array.from({ length: rows }, () => '(?, ?, ?, 1, ?)').join(', ')}
      ON CONFLICT DO UPDATE SET finished = excluded.finished, tracked = 1, data = excluded.data`)
  const statements = {
    move: prepare('UPDATE targets SET seq = seq + 1, sync = ? WHERE name = ? AND seq = ? RETURNING number'),
    numbers: prepare('SELECT number FROM targets'),
    insertMany: insertCalls(ROWS_A_STATEMENT),
    insertOne: insertCalls(1),
    evict: prepare('UPDATE calls SET tracked = 0 WHERE target = ? AND id = ?'),
    deleteCall: prepare('DELETE FROM calls WHERE target = ? AND id = ?'),
    increment: prepare(`
      INSERT INTO counters (target, series, value) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET value = value + excluded.value`),
    setAlert: prepare('INSERT OR REPLACE INTO alerts (target, alert, data) VALUES (?, ?, ?)'),
    deleteAlert: prepare('DELETE FROM alerts WHERE target = ? AND alert = ?'),
    readPause: prepare('SELECT until FROM pauses WHERE key = ?'),
    writePause: prepare(`
      INSERT INTO pauses (key, until) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET until = max(until, excluded.until)`),
    evicted: prepare(`
      SELECT id, data FROM calls
      WHERE target = (SELECT number FROM targets WHERE name = ?) AND id = ? AND tracked = 0`),
    deleteExpired: prepare(`
      DELETE FROM calls WHERE rowid IN (
        SELECT rowid FROM calls WHERE target = ? AND tracked = 0 AND finished < ? LIMIT ?)
      RETURNING id, data`),
    settle: prepare('UPDATE settled SET value = value + ? WHERE target = ? AND quantity = ?'),
    deleteExpiredEvaluations: prepare('DELETE FROM evaluations WHERE target = ? AND hour < ?'),
    deleteExpiredUsage: prepare('DELETE FROM usage WHERE target = ? AND quarter < ?'),
    use: prepare(`
      INSERT INTO usage (target, quarter, minutes) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET minutes = minutes + excluded.minutes`),
    logEvaluation: prepare(`
      INSERT INTO evaluations (target, hour, data) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET data = data || excluded.data`),
    finishedBetween: prepare(`
      SELECT id, data FROM calls
      WHERE target = (SELECT number FROM targets WHERE name = ?)
        AND tracked IN (0, 1) AND finished >= ? AND finished < ?`),
  }

  const finishedCalls = finishedCallsIn(db)
  let deletions = 0

  function writeCommit(target: string, { ledger, alerts, outgoing, evaluated }: Commit): void {
    const { seq } = ledger.sync
    const moved = statements.move.get(JSON.stringify(ledger.sync), target, seq - 1)
    if (moved === undefined) {
      throw new StoreError('stale', `the store is not where this daemon left target ${target}: another one wrote to it`)
    }
    const number = Number(moved['number'])
    writeCalls(number, [...ledger.calls.values()])
    const uncounted = ledger.evicted.filter(({ finish }) => finish === undefined)
    for (const call of ledger.evicted) {
      if (call.finish === undefined) statements.deleteCall.run(number, call.id)
      else statements.evict.run(number, call.id)
    }
    settle(number, uncounted)
    for (const [series, increment] of ledger.counters) statements.increment.run(number, series, increment)
    for (const [quarter, minutes] of ledger.usage) statements.use.run(number, quarter, minutes)
    for (const instance of alerts.changed) statements.setAlert.run(number, instance.key, JSON.stringify(instance))
    for (const { key } of alerts.ended) statements.deleteAlert.run(number, key)
    outbox.enqueueChanges(outgoing)
    if (evaluated !== undefined) {
      statements.logEvaluation.run(number, hourOf(evaluated), packEvaluated(evaluated))
    }
  }

  /** Adds up what was counted of calls whose rows are deleted in the same transaction. */
  function settle(target: number, deleted: readonly TrackedCall[]): void {
    for (const [quantity, amount] of settledOf(deleted)) statements.settle.run(amount, target, quantity)
  }

  // Records are written here side by side: SQLite copies its arguments.
  const records = new DataView(new ArrayBuffer(ROWS_A_STATEMENT * RECORD_BYTES))
  const recordAt = Array.from(
    { length: ROWS_A_STATEMENT },
    (_, i) => new Uint8Array(records.buffer, i * RECORD_BYTES, RECORD_BYTES),
  )

  function writeCalls(target: number, calls: readonly TrackedCall[]): void {
    const row = (call: TrackedCall, i: number): SQLInputValue[] => {
      writeCall(records, i * RECORD_BYTES, call)
      return [target, call.id, call.finish?.at ?? null, recordAt[i]!]
    }
    const whole = calls.length - (calls.length % ROWS_A_STATEMENT)
    for (let i = 0; i < whole; i += ROWS_A_STATEMENT) {
      statements.insertMany.run(...calls.slice(i, i + ROWS_A_STATEMENT).flatMap(row))
    }
    for (const call of calls.slice(whole)) statements.insertOne.run(...row(call, 0))
  }

  function readTarget(number: number, row: Readonly<Record<string, unknown>>, keepFinished: number): StoredTarget {
    const { ledger, oldest } = ledgerOf(row, keepFinished)
    const alerts = new Map<string, AlertInstance>()
    const tracked = prepare('SELECT id, data FROM calls WHERE target = ? AND tracked = 1')
    for (const call of tracked.iterate(number)) trackRecord(ledger, String(call['id']), bytesOf(call), oldest)
    const evicted = prepare('SELECT id, data FROM calls WHERE target = ? AND tracked = 0 AND finished >= ?')
    for (const call of evicted.iterate(number, oldest)) ledger.finished.add(callOf(call).finish!)
    const counters = prepare('SELECT series, value FROM counters WHERE target = ?')
    for (const { series, value } of counters.iterate(number)) ledger.counters.set(String(series), Number(value))
    const usage = prepare('SELECT quarter, minutes FROM usage WHERE target = ? ORDER BY quarter')
    for (const { quarter, minutes } of usage.iterate(number)) ledger.usage.set(Number(quarter), Number(minutes))
    const instances = prepare('SELECT alert, data FROM alerts WHERE target = ?')
    for (const { alert, data } of instances.iterate(number)) alerts.set(String(alert), parse<AlertInstance>(data))
    return { ledger, alerts }
  }

  function addTarget({ name, fingerprint }: TargetIdentity, created: number): StoredTarget {
    const ledger = newLedger(created)
    const insert = prepare('INSERT INTO targets (name, fingerprint, seq, sync) VALUES (?, ?, 0, ?)')
    const { lastInsertRowid: number } = insert.run(name, fingerprint, JSON.stringify(ledger.sync))
    const addSettled = prepare('INSERT INTO settled (target, quantity, value) VALUES (?, ?, 0)')
    for (const quantity of QUANTITIES) addSettled.run(number, quantity)
    return { ledger, alerts: new Map() }
  }

  function deleteOf(table: (typeof OF_TARGET)[number], target: string): void {
    prepare(`DELETE FROM ${table} WHERE target = (SELECT number FROM targets WHERE name = ?)`).run(target)
  }

  /** Runs `work` in a transaction that is kept whole or not at all. Nothing waits inside: node:sqlite is synchronous. */
  function transaction<T>(work: () => T): T {
    db.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      db.exec('COMMIT')
      return result
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  return {
    openTarget: (identity, created, keepFinished) =>
      answer(() =>
        transaction(() => {
          const row = prepare('SELECT fingerprint, number, sync FROM targets WHERE name = ?').get(identity.name)
          if (row === undefined) return addTarget(identity, created)
          if (row['fingerprint'] !== identity.fingerprint) throw otherTarget(identity.name)
          return readTarget(Number(row['number']), row, keepFinished)
        }),
      ),
    resetTarget: (name, outgoing) =>
      answer(() =>
        transaction(() => {
          for (const table of OF_TARGET) deleteOf(table, name)
          prepare('DELETE FROM targets WHERE name = ?').run(name)
          outbox.enqueueChanges(outgoing)
        }),
      ),
    evictedCalls: (target, ids) =>
      answer(() => {
        const found = new Map<string, TrackedCall>()
        for (const id of ids) {
          const row = statements.evicted.get(target, id)
          if (row !== undefined) found.set(id, callOf(row))
        }
        return found
      }),
    commit: (target, commit) => answer(() => transaction(() => writeCommit(target, commit))),
    outbox: (notifier) => answer(() => outbox.read(notifier)),
    claimOutbox: (ids, claimed) => answer(() => transaction(() => outbox.claim(ids, claimed))),
    removeFromOutbox: (ids) => answer(() => transaction(() => outbox.remove(ids))),
    countOutbox: () => answer(outbox.count),
    enqueueOnce: (key, content, notifiers) =>
      answer(() => transaction(() => outbox.enqueueOnce(key, content, notifiers))),
    strayAlerts: (targets) =>
      answer(() => {
        const rows = prepare('SELECT name, data FROM alerts JOIN targets ON target = number ORDER BY name, alert').all()
        return alertsByTarget(rows.filter(({ name }) => !targets.includes(String(name))))
      }),
    closeAlerts: (target, outgoing) =>
      answer(() =>
        transaction(() => {
          deleteOf('alerts', target)
          outbox.enqueueChanges(outgoing)
        }),
      ),
    ...sqliteSilences(db, path),
    pausedUntil: (key) =>
      answer(() => {
        const row = statements.readPause.get(key)
        return row && Number(row['until'])
      }),
    pauseUntil: (key, until) => answer(() => void statements.writePause.run(key, until)),
    finishedCalls: (query) => answer(() => finishedCalls(query)),
    countFinished: (target, from, to) =>
      answer(() => {
        const rows = statements.finishedBetween.all(target, from, to)
        return countByStatus(rows.map((row) => ({ status: callOf(row).finish!.status, n: 1 })))
      }),
    deleteExpired: (before) =>
      answer(() =>
        transaction(() => {
          let left = DELETED_AT_ONCE
          const targets = statements.numbers.all()
          // Each time another target comes first, so that none is never reached.
          const first = deletions++ % Math.max(1, targets.length)
          for (const { number } of [...targets.slice(first), ...targets.slice(0, first)]) {
            const deleted = statements.deleteExpired.all(number!, before, left)
            left -= deleted.length
            settle(Number(number), deleted.map(callOf))
            statements.deleteExpiredEvaluations.run(number!, before)
            statements.deleteExpiredUsage.run(number!, before - USAGE_KEPT)
          }
        }),
      ),
    close: () =>
      answer(() => {
        db.close()
        release()
      }),
  }
}
