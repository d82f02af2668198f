import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { migrate, MIGRATIONS } from '../../src/store/sqlite-schema.ts'

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
