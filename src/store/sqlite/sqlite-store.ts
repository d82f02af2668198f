import type { SQLInputValue } from 'node:sqlite'
import type { AlertInstance } from '../../alerts/alert-instance.ts'
import { QUANTITIES } from '../../ledger/balance.ts'
import { RECORD_BYTES, writeCall } from '../../ledger/call-record.ts'
import { countByStatus } from '../../ledger/finished-calls.ts'
import { newLedger, rememberRecord, type Facts, type LedgerState } from '../../ledger/state.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { USAGE_KEPT } from '../../ledger/usage.ts'
import { callOf } from '../call-row.ts'
import { hourOf, packEvaluated } from '../evaluation-log.ts'
import { finishedCallsIn } from './finished-calls.ts'
import { settledOf } from '../settled.ts'
import { openOwn } from './open-own.ts'
import { deleteSilence, insertSilence, readSilences } from './silences.ts'
import { sqliteOutbox, type OutboxOptions } from './outbox.ts'
import { sqliteError } from './sqlite-error.ts'
import { StoreError, type Commit, type Store } from '../store.ts'

export type SqliteStoreOptions = OutboxOptions & {
  /** The file, made where it does not exist; `:memory:` keeps nothing. */
  path: string
}

/** Calls in one INSERT: past a hundred, more rows a statement gain nothing. */
const ROWS_A_STATEMENT = 100

/** Calls that are trimmed at a time, of all targets: what takes long would hold up everything else. */
const MOST_TRIMMED = 2000

/**
 * The embedded store: one SQLite file in WAL mode, every commit on disk before it counts. One daemon a file.
 *
 * @throws {StoreError} refused: the file is held by another daemon, damaged, or not ours
 */
export function openSqliteStore({ path, ...receiving }: SqliteStoreOptions): Store {
  const { db, release } = openOwn(path)
  const prepare = (sql: string) => db.prepare(sql)
  const outbox = sqliteOutbox(db, receiving)
  const insertCalls = (rows: number) =>
    prepare(`
      INSERT INTO calls (target, id, finished, remembered, data)
      VALUES ${Array.from({ length: rows }, () => '(?, ?, ?, 1, ?)').join(', ')}
      ON CONFLICT DO UPDATE SET finished = excluded.finished, remembered = 1, data = excluded.data`)
  const statements = {
    move: prepare('UPDATE targets SET seq = seq + 1, facts = ? WHERE name = ? AND seq = ? RETURNING number'),
    numbers: prepare('SELECT name, number FROM targets'),
    insertMany: insertCalls(ROWS_A_STATEMENT),
    insertOne: insertCalls(1),
    keepAsHistory: prepare('UPDATE calls SET remembered = 0 WHERE target = ? AND id = ?'),
    deleteCall: prepare('DELETE FROM calls WHERE target = ? AND id = ?'),
    increment: prepare(`
      INSERT INTO counters (target, series, value) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET value = value + excluded.value`),
    setAlert: prepare('INSERT OR REPLACE INTO alerts (target, alert, data) VALUES (?, ?, ?)'),
    deleteAlert: prepare('DELETE FROM alerts WHERE target = ? AND alert = ?'),
    readHold: prepare('SELECT until FROM holds WHERE key = ?'),
    writeHold: prepare(`
      INSERT INTO holds (key, until) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET until = max(until, excluded.until)`),
    evicted: prepare(`
      SELECT id, data FROM calls
      WHERE target = (SELECT number FROM targets WHERE name = ?) AND id = ? AND remembered = 0`),
    trim: prepare(`
      DELETE FROM calls WHERE rowid IN (
        SELECT rowid FROM calls WHERE target = ? AND remembered = 0 AND finished < ? LIMIT ?)
      RETURNING id, data`),
    settle: prepare('UPDATE settled SET value = value + ? WHERE target = ? AND quantity = ?'),
    trimEvaluations: prepare('DELETE FROM evaluations WHERE target = ? AND hour < ?'),
    trimUsage: prepare('DELETE FROM usage WHERE target = ? AND quarter < ?'),
    use: prepare(`
      INSERT INTO usage (target, quarter, minutes) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET minutes = minutes + excluded.minutes`),
    logEvaluation: prepare(`
      INSERT INTO evaluations (target, hour, data) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET data = data || excluded.data`),
    finishedBetween: prepare(`
      SELECT id, data FROM calls
      WHERE target = (SELECT number FROM targets WHERE name = ?)
        AND remembered IN (0, 1) AND finished >= ? AND finished < ?`),
  }

  const finishedCalls = finishedCallsIn(db)
  let trims = 0

  function writeCommit(target: string, { ledger, alerts, outgoing, evaluated }: Commit): void {
    const { seq } = ledger.facts
    const moved = statements.move.get(JSON.stringify(ledger.facts), target, seq - 1)
    if (moved === undefined) {
      throw new StoreError('stale', `the store is not where this daemon left target ${target}: another one wrote to it`)
    }
    const number = Number(moved['number'])
    writeCalls(number, [...ledger.calls.values()])
    for (const call of ledger.forgotten) {
      if (call.finish === undefined) statements.deleteCall.run(number, call.id)
      else statements.keepAsHistory.run(number, call.id)
    }
    settle(
      target,
      ledger.forgotten.filter(({ finish }) => finish === undefined),
    )
    for (const [series, increment] of ledger.counters) statements.increment.run(target, series, increment)
    for (const [quarter, minutes] of ledger.usage) statements.use.run(target, quarter, minutes)
    for (const instance of alerts.changed) statements.setAlert.run(target, instance.key, JSON.stringify(instance))
    for (const { key } of alerts.ended) statements.deleteAlert.run(target, key)
    for (const addressed of outgoing) outbox.putChange(addressed)
    if (evaluated !== undefined) {
      statements.logEvaluation.run(target, hourOf(evaluated), packEvaluated(evaluated))
    }
  }

  /** Notes what was counted of calls whose rows are deleted in the same transaction. */
  function settle(target: string, deleted: readonly TrackedCall[]): void {
    for (const [quantity, amount] of settledOf(deleted)) statements.settle.run(amount, target, quantity)
  }

  // Records are written here, one beside the other: SQLite copies what it is given.
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

  function loadLedger(target: string, number: number, facts: Facts, keepFinished: number): LedgerState {
    const ledger = newLedger(facts.created)
    ledger.facts = facts
    const { lastGood = facts.created, previousGood = lastGood } = facts
    const oldest = Math.min(previousGood, lastGood - keepFinished)
    const remembered = prepare('SELECT id, data FROM calls WHERE target = ? AND remembered = 1')
    for (const { id, data } of remembered.iterate(number)) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column is a BLOB
      rememberRecord(ledger, String(id), data as Uint8Array, oldest)
    }
    const forgotten = prepare('SELECT id, data FROM calls WHERE target = ? AND remembered = 0 AND finished >= ?')
    for (const row of forgotten.iterate(number, oldest)) ledger.finished.add(callOf(row).finish!)
    const counters = prepare('SELECT series, value FROM counters WHERE target = ?')
    for (const { series, value } of counters.iterate(target)) ledger.counters.set(String(series), Number(value))
    const usage = prepare('SELECT quarter, minutes FROM usage WHERE target = ? ORDER BY quarter')
    for (const { quarter, minutes } of usage.iterate(target)) ledger.usage.set(Number(quarter), Number(minutes))
    return ledger
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

  const answer = async <T>(work: () => T): Promise<T> => {
    try {
      return work()
    } catch (error) {
      throw sqliteError(error, path)
    }
  }

  return {
    openTarget: ({ name, fingerprint }, created, keepFinished) =>
      answer(() =>
        transaction(() => {
          const row = prepare('SELECT fingerprint, number, facts FROM targets WHERE name = ?').get(name)
          if (row === undefined) {
            const ledger = newLedger(created)
            const addSettled = prepare('INSERT INTO settled (target, quantity, value) VALUES (?, ?, 0)')
            const insert = prepare(`
              INSERT INTO targets (name, fingerprint, seq, facts, number)
              VALUES (?, ?, 0, ?, (SELECT coalesce(max(number), 0) + 1 FROM targets))`)
            insert.run(name, fingerprint, JSON.stringify(ledger.facts))
            for (const quantity of QUANTITIES) addSettled.run(name, quantity)
            return { ledger, alerts: new Map() }
          }
          if (row['fingerprint'] !== fingerprint) {
            throw new StoreError(
              'refused',
              `target ${name} had another address, on_behalf_of or query when its calls were counted; ` +
                `give the new one another name, or run with --reset-target ${name} to count from nothing`,
            )
          }
          const alerts = new Map<string, AlertInstance>()
          for (const { alert, data } of prepare('SELECT alert, data FROM alerts WHERE target = ?').iterate(name)) {
            alerts.set(String(alert), parse<AlertInstance>(data))
          }
          const facts = parse<Facts>(row['facts'])
          return { ledger: loadLedger(name, Number(row['number']), facts, keepFinished), alerts }
        }),
      ),
    resetTarget: (name, outgoing) =>
      answer(() =>
        transaction(() => {
          prepare('DELETE FROM calls WHERE target = (SELECT number FROM targets WHERE name = ?)').run(name)
          for (const table of ['counters', 'settled', 'alerts', 'usage', 'evaluations'])
            prepare(`DELETE FROM ${table} WHERE target = ?`).run(name)
          prepare('DELETE FROM targets WHERE name = ?').run(name)
          for (const addressed of outgoing) outbox.putChange(addressed)
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
    putOutOnce: (name, content, notifiers) => answer(() => transaction(() => outbox.putOnce(name, content, notifiers))),
    strayAlerts: (targets) =>
      answer(() => {
        const stray = prepare('SELECT target, data FROM alerts ORDER BY target, alert')
          .all()
          .filter(({ target }) => !targets.includes(String(target)))
        const byTarget = Map.groupBy(stray, ({ target }) => String(target))
        return [...byTarget].map(([target, rows]) => ({
          target,
          alerts: rows.map(({ data }) => parse<AlertInstance>(data)),
        }))
      }),
    closeAlerts: (target, outgoing) =>
      answer(() =>
        transaction(() => {
          prepare('DELETE FROM alerts WHERE target = ?').run(target)
          for (const addressed of outgoing) outbox.putChange(addressed)
        }),
      ),
    silences: (now) => answer(() => readSilences(db, now)),
    addSilence: (silence) => answer(() => insertSilence(db, silence)),
    endSilence: (id) => answer(() => deleteSilence(db, id)),
    heldUntil: (key) =>
      answer(() => {
        const row = statements.readHold.get(key)
        return row && Number(row['until'])
      }),
    hold: (key, until) => answer(() => void statements.writeHold.run(key, until)),
    finishedCalls: (query) => answer(() => finishedCalls(query)),
    countFinished: (target, from, to) =>
      answer(() => {
        const rows = statements.finishedBetween.all(target, from, to)
        return countByStatus(rows.map((row) => ({ status: callOf(row).finish!.status, n: 1 })))
      }),
    trimHistory: (before) =>
      answer(() =>
        transaction(() => {
          let left = MOST_TRIMMED
          const targets = statements.numbers.all()
          // Each time another target comes first, so that none waits for ever.
          const first = trims++ % Math.max(1, targets.length)
          for (const { name, number } of [...targets.slice(first), ...targets.slice(0, first)]) {
            const trimmed = statements.trim.all(number!, before, left)
            left -= trimmed.length
            settle(String(name), trimmed.map(callOf))
            statements.trimEvaluations.run(name!, before)
            statements.trimUsage.run(name!, before - USAGE_KEPT)
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

/** JSON that this store itself wrote: T is what it was written from. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
function parse<T>(text: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(String(text)) as T
}
