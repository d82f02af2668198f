import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { apply } from '../../../src/ledger/state.ts'
import { step } from '../../../src/ledger/step.ts'
import { backupStore } from '../../../src/store/sqlite/backup-store.ts'
import { openReadOnly } from '../../../src/store/sqlite/open-read-only.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { callsById, completeLook, contents, CREATED, listed, seen } from '../../ledger/seen.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const OPTIONS = { lookback: 1000, baseline: 'count', details: 'never' } as const
const ended = seen('c1', 'ended', { endedAt: CREATED + 5 })

/** A store that its daemon has open. */
async function openStore() {
  const path = join(temporaryFolder(), 'callwatch.db')
  const store = openSqliteStore({ path })
  onTestFinished(() => store.close().catch(() => undefined))
  const { ledger } = await store.openTarget({ name: 'a', fingerprint: 'x' }, CREATED, 1000)
  const see = async (...calls: ReturnType<typeof seen>[]) => {
    const delta = step(ledger, { sightings: [listed(CREATED + 10, ...calls)] }, OPTIONS)!
    await store.commit('a', { ledger: delta, alerts: { changed: [], ended: [], notifications: [] }, outgoing: [] })
    apply(ledger, delta, 1000)
  }
  return { path, store, ledger, see }
}

function open(path: string) {
  const reader = openReadOnly(path)
  onTestFinished(() => reader.close())
  return reader
}

test('a reader sees each commit of the daemon that has the store open, and its holds', async () => {
  const { path, store, ledger, see } = await openStore()
  const reader = open(path)
  expect((await reader.target('a'))?.fingerprint).toBe('x')
  expect(await reader.target('b')).toBeUndefined()
  expect(callsById(await reader.calls('a'))).toEqual(new Map())
  await see(ended, seen('c2', 'ongoing'))
  expect((await reader.target('a'))?.facts.seq).toBe(ledger.facts.seq)
  expect(callsById(await reader.calls('a'))).toEqual(contents(ledger).calls)
  expect(await reader.call('a', 'c1')).toEqual(ledger.calls.get('c1'))
  expect(await reader.call('a', 'c3')).toBeUndefined()
  expect(await reader.heldUntil('k')).toBeUndefined()
  await store.hold('k', CREATED + 60)
  expect(await reader.heldUntil('k')).toBe(CREATED + 60)
})

test('a reader shows no call that is history only', async () => {
  const { path, store, ledger, see } = await openStore()
  await see(ended)
  const delta = step(ledger, completeLook(5000), OPTIONS)!
  await store.commit('a', { ledger: delta, alerts: { changed: [], ended: [], notifications: [] }, outgoing: [] })
  expect(await store.finishedCalls({ since: CREATED, limit: 10 })).toHaveLength(1)
  const reader = open(path)
  expect(callsById(await reader.calls('a'))).toEqual(new Map())
  expect(await reader.call('a', 'c1')).toBeUndefined()
})

test('a reader does not keep a daemon from starting, and cannot write', async () => {
  const { path, store } = await openStore()
  await store.close()
  const reader = open(path)
  const second = openSqliteStore({ path })
  await second.resetTarget('a', [])
  await second.close()
  expect(await reader.target('a')).toBeUndefined()
})

test('a backup is what the daemon has committed, in one file that is its own', async () => {
  const { path, ledger, see } = await openStore()
  await see(ended)
  const file = join(temporaryFolder(), 'copy.db')
  const { bytes, targets } = backupStore(path, file)
  expect(targets).toEqual([{ name: 'a', seq: ledger.facts.seq }])
  expect(readFileSync(file).length).toBe(bytes)
  await see(seen('c2', 'ongoing'))
  expect([...callsById(await open(file).calls('a')).keys()]).toEqual(['c1'])
})

describe('refused, and left as it is, is', () => {
  const made = (sql: string) => {
    const path = join(temporaryFolder(), 'other.db')
    const db = new DatabaseSync(path)
    db.exec(sql)
    db.close()
    return path
  }
  const text = () => {
    const path = join(temporaryFolder(), 'other.db')
    writeFileSync(path, 'this is no database, but it is long enough to be looked at as if it were one')
    return path
  }

  test.each([
    ["another program's database", () => made('CREATE TABLE t (a)'), 'is a database of another program'],
    [
      "a newer callwatch's",
      () => made('CREATE TABLE t (a); PRAGMA application_id = 0x63616c6c; PRAGMA user_version = 99'),
      /was written by a newer callwatch \(schema 99, this one knows \d+\)/,
    ],
    ['a file that no daemon has used yet', () => made(''), 'holds nothing of callwatch'],
    ['what is no database', text, 'is damaged or no SQLite database'],
    ['a missing one', () => join(temporaryFolder(), 'nowhere.db'), 'there is no store'],
    ['one in memory', () => ':memory:', 'the store is in memory'],
  ])('%s', (_what, make, sentence) => {
    const path = make()
    expect(() => openReadOnly(path)).toThrow(expect.objectContaining({ kind: 'refused' }))
    expect(() => openReadOnly(path)).toThrow(sentence)
    const copy = join(temporaryFolder(), 'copy.db')
    expect(() => backupStore(path, copy)).toThrow(sentence)
  })
})
