import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { labelsOf } from '../../src/ledger/call.ts'
import { migrate, MIGRATIONS } from '../../src/store/sqlite-schema.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { temporaryFolder } from './temporary-folder.ts'

const NEXT = 'ALTER TABLE holder ADD COLUMN since REAL NOT NULL DEFAULT 0; CREATE TABLE notes (text TEXT) STRICT;'

/** A database of today's schema with something in it. */
function today(): DatabaseSync {
  const db = new DatabaseSync(':memory:')
  onTestFinished(() => db.close())
  migrate(db, 'here')
  db.exec("INSERT INTO holder (only, who) VALUES (1, 'somebody')")
  return db
}

const version = (db: DatabaseSync) => db.prepare('PRAGMA user_version').get()?.['user_version']
const tables = (db: DatabaseSync) => db.prepare('SELECT name FROM sqlite_schema ORDER BY name').all()

test('a store of an older schema is brought forward, and keeps what it holds', () => {
  const db = today()
  migrate(db, 'here', [...MIGRATIONS, NEXT])
  expect(version(db)).toBe(MIGRATIONS.length + 1)
  expect(db.prepare('SELECT who, since FROM holder').all()).toEqual([{ who: 'somebody', since: 0 }])
})

test('a migration that fails leaves the store as it was', () => {
  const db = today()
  const before = tables(db)
  expect(() => migrate(db, 'here', [...MIGRATIONS, NEXT, 'CREATE TABLE notes (text TEXT)'])).toThrow('already exists')
  expect([version(db), tables(db), db.isTransaction]).toEqual([MIGRATIONS.length, before, false])
})

test('a store of the newest schema is left alone', () => {
  const db = today()
  const before = tables(db)
  migrate(db, 'here')
  expect(tables(db)).toEqual(before)
})

test('a store of the first schema is read as if it had always been of this one', async () => {
  const path = join(temporaryFolder(), 'callwatch.db')
  const db = new DatabaseSync(path)
  migrate(db, path, MIGRATIONS.slice(0, 1))
  const facts = { seq: 1, created: 1_790_000_000, ignored: { baseline: 0, beforeHorizon: 0 } }
  db.prepare("INSERT INTO targets VALUES ('a', 'x', 1, ?)").run(JSON.stringify(facts))
  const labels = ['audio', 'call', 'user']
  const call = (finish: unknown) =>
    JSON.stringify(['final', 'ended', labels, 100, 10, 20, 80, 2, 0, [1.5, 0.5, 3, 0], finish, 0, null, 0])
  const insert = db.prepare("INSERT INTO calls VALUES ('a', ?, ?, 1, ?)")
  insert.run('ended', 80, call(['ended', labels, 80, 100]))
  insert.run('rejected', 80, call(['rejected', labels, 80, 100]))
  insert.run('open', null, call(null))
  const rule = { name: 'R', severity: 'warning', above: 0.3, clear: 0.2, for: 0 }
  const ratio = { ...rule, signal: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 }
  const counts = { ended: 10, unanswered: 0, rejected: 10, canceled: 0, other: 0, total: 20 }
  const kept = { state: 'firing', since: 1, firingSince: 2, credited: 1, evaluatedAt: 3, value: 0.5, peak: 0.5, counts }
  db.prepare("INSERT INTO alerts VALUES ('a', 'R', ?)").run(JSON.stringify({ rule: ratio, ...kept }))
  const age = { name: 'Blind', severity: 'critical', above: 300, clear: 300, for: 0, signal: 'poll_age' }
  db.prepare("INSERT INTO alerts VALUES ('a', 'Blind', ?)").run(JSON.stringify({ rule: age, ...kept }))
  const said = { kind: 'firing', target: 'a', alert: 'R', severity: 'warning', value: 0.5, threshold: 0.3, at: 3 }
  const put = db.prepare("INSERT INTO outbox (notifier, data) VALUES ('slack', ?)")
  put.run(JSON.stringify({ ...said, signal: 'failure_ratio', reason: 'any', window: 900 }))
  db.close()

  const store = openSqliteStore({ path, notifiersFor: () => [] })
  onTestFinished(() => store.close())
  const { ledger, alerts } = await store.openTarget({ name: 'a', fingerprint: 'x' }, 0, 86_400)
  const finish = {
    labels: labelsOf('audio', 'call', 'user'),
    at: 80,
    known: 100,
    seen: 100,
    began: 10,
    audio: 1.5,
    video: 0.5,
  }
  expect(ledger.calls.get('ended')?.finish).toEqual({ ...finish, status: 'ended', answerDelay: 10, duration: 60 })
  const unanswered = { status: 'rejected', answerDelay: undefined, duration: undefined }
  expect(ledger.calls.get('rejected')?.finish).toEqual({ ...finish, ...unanswered })
  expect(ledger.calls.get('open')?.finish).toBeUndefined()
  const { above: _above, ...unchanged } = rule
  const added = { breach: 'above', threshold: 0.3, match: {}, by: [], keepFiringFor: 0, repeat: 0 }
  const signal = { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 }
  expect(alerts.get('R')).toEqual({
    ...kept,
    key: 'R',
    labels: {},
    calls: 20,
    toldAt: 2,
    rule: { ...unchanged, ...added, signal },
  })
  expect(alerts.get('Blind')?.rule.signal).toEqual({ name: 'poll_age' })
  const [entry] = await store.outbox('slack')
  const told = { key: 'R', labels: {}, match: {}, breach: 'above', signal: { ...signal, minCalls: 1 } }
  expect(entry?.content).toEqual({ ...said, ...told })
})
