import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { labelsOf } from '../../../src/ledger/call.ts'
import { step } from '../../../src/ledger/step.ts'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { openReadOnly } from '../../../src/store/sqlite/open-read-only.ts'
import { migrate, MIGRATIONS } from '../../../src/store/sqlite/schema.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { callsById, contents, completeLook, seen } from '../../ledger/seen.ts'
import { SECOND_SCHEMA, secondSchemaStore } from './second-schema.ts'
import { temporaryFolder } from '../temporary-folder.ts'

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

  const store = openSqliteStore({ path })
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

const byId = (calls: readonly TrackedCall[]) => new Map(calls.map((call) => [call.id, call]))
const rememberedOf = (name: string) =>
  byId(SECOND_SCHEMA.flatMap(({ target, remembered, call }) => (remembered && target === name ? [call] : [])))
const identity = (name: string) => ({ name, fingerprint: `of ${name}` })

test('a store of the second schema keeps every call of every target, and all else that is known of them', async () => {
  const path = secondSchemaStore()
  const store = openSqliteStore({ path })
  onTestFinished(() => store.close().catch(() => undefined))
  for (const [i, name] of ['c', 'a', 'b'].entries()) {
    const { ledger } = await store.openTarget(identity(name), 0, 86_400)
    const calls = rememberedOf(name)
    expect(contents(ledger).calls).toStrictEqual(calls)
    const isOpen = ({ phase }: TrackedCall) => phase === 'open'
    expect(ledger.open).toStrictEqual(byId([...calls.values()].filter(isOpen)))
    const finished = SECOND_SCHEMA.flatMap(({ target, call }) => (target === name && call.finish ? [call.finish] : []))
    expect(contents(ledger).finished).toEqual(finished.map(({ known: _known, seen: _seen, ...finish }) => finish))
    expect(ledger.facts).toMatchObject({ seq: 7, created: 1_790_000_000 + i })
    expect(ledger.counters).toEqual(new Map([[`series of ${name}`, i + 0.5]]))
    expect(ledger.usage).toEqual(new Map([[1_790_000_100, i + 0.25]]))
  }
  const history = SECOND_SCHEMA.filter(({ call }) => call.finish).map(({ target, call }) => ({ target, call }))
  expect(history.map(({ target }) => target)).toEqual(['a', 'b'])
  expect(await store.finishedCalls({ since: 0, limit: 10 })).toStrictEqual(history)
  expect(await store.countFinished('b', 1_790_000_040, 1_790_000_041)).toMatchObject({ unanswered: 1, total: 1 })
  await store.close()

  const reader = openReadOnly(path)
  onTestFinished(() => reader.close())
  for (const name of ['a', 'b', 'c']) {
    expect(callsById(await reader.calls(name))).toStrictEqual(rememberedOf(name))
    expect(await reader.evaluations(name, 0)).toEqual([{ kind: 'tick', at: 1_790_000_100, pollAge: 42 }])
  }
  expect(await reader.finishes('b', 0)).toStrictEqual([SECOND_SCHEMA[4]!.call.finish])
})

test('a store that was brought forward from the second schema is written to as any other', async () => {
  const path = secondSchemaStore()
  const store = openSqliteStore({ path })
  onTestFinished(() => store.close().catch(() => undefined))
  const options = { lookback: 86_400, baseline: 'count', details: 'never' } as const
  const { ledger } = await store.openTarget(identity('b'), 0, 86_400)
  const added = await store.openTarget(identity('another'), 0, 86_400)
  const ended = seen('same id', 'ended', { type: 'video', mode: 'meet', receiverType: 'group', endedAt: 1_790_000_100 })
  for (const [name, before] of Object.entries({ b: ledger, another: added.ledger })) {
    const delta = step(before, completeLook(200, ended), options)!
    await store.commit(name, { ledger: delta, alerts: { changed: [], ended: [], notifications: [] }, outgoing: [] })
  }
  const callsOf = async (name: string) => contents((await store.openTarget(identity(name), 0, 86_400)).ledger).calls
  expect((await callsOf('b')).get('same id')).toMatchObject({
    phase: 'final',
    endedAt: 1_790_000_100,
    firstSeen: 1790000001.5,
  })
  expect((await callsOf('another')).get('same id')).toMatchObject({ phase: 'final', firstSeen: 1_790_000_200 })
  expect(await callsOf('a')).toStrictEqual(rememberedOf('a'))
  await store.resetTarget('b', [])
  expect(await callsOf('b')).toEqual(new Map())
  expect((await callsOf('another')).size).toBe(1)
  expect(await callsOf('a')).toStrictEqual(rememberedOf('a'))
  expect(await callsOf('c')).toStrictEqual(rememberedOf('c'))
  const history = await store.finishedCalls({ since: 0, limit: 10 })
  expect(history.map(({ target }) => target)).toEqual(['another', 'a'])
})

test('a store of the second schema with a row that says nothing is left as it was', () => {
  const path = secondSchemaStore()
  const db = new DatabaseSync(path)
  onTestFinished(() => db.close())
  db.exec("UPDATE calls SET data = '[' WHERE id = 'lost'")
  const before = db.prepare('SELECT * FROM calls ORDER BY target, id').all()
  expect(() => migrate(db, path)).toThrow('JSON')
  expect([version(db), db.isTransaction]).toEqual([2, false])
  expect(db.prepare('SELECT * FROM calls ORDER BY target, id').all()).toEqual(before)
})
