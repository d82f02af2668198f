import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { step } from '../../../src/ledger/step.ts'
import { backupStore } from '../../../src/store/sqlite/backup-store.ts'
import { openReadOnly } from '../../../src/store/sqlite/open-read-only.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { completeLook, CREATED, seen } from '../../ledger/seen.ts'
import { B, filled, many, told } from '../contract/filled-history.ts'
import { A, DAY, NO_ALERTS, OPTIONS } from '../contract/place.ts'
import { storeContract } from '../contract/store-contract.ts'
import { temporaryFolder } from '../temporary-folder.ts'

function open(path: string, notifiers?: readonly string[]): Store {
  const store = openSqliteStore({ path, notifiers })
  onTestFinished(() => store.close().catch(() => undefined))
  return store
}

storeContract(async () => {
  const path = join(temporaryFolder(), 'callwatch.db')
  return { open: async (notifiers) => open(path, notifiers), reader: async () => openReadOnly(path) }
})

test('the history is trimmed by 2000 calls at a time, of one target first and then of another, until there is no more to trim', async () => {
  const store = open(':memory:')
  await filled(store, A, many(2503), ['call 7'])
  await filled(store, B, many(2501))
  const left = async () => {
    const targets = (await store.finishedCalls({ since: CREATED, limit: 1e6 })).map(({ target }) => target)
    return ['a', 'b'].map((name) => targets.filter((target) => target === name).length)
  }
  expect(await left()).toEqual([2503, 2501])
  for (const expected of [
    [503, 2501],
    [503, 501],
    [1, 0],
    [1, 0],
  ]) {
    await store.trimHistory(CREATED + 1000)
    expect(await left()).toEqual(expected)
  }
  expect(told(await store.finishedCalls({ since: CREATED, limit: 10 }))).toEqual([expect.stringContaining('a call 7 ')])
})

test('while another process writes the store is unavailable for now, and works afterwards', async () => {
  const path = join(temporaryFolder(), 'callwatch.db')
  const store = open(path)
  const { ledger } = await store.openTarget(A, CREATED, DAY)
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  const delta = step(ledger, completeLook(1, seen('b', 'ongoing')), OPTIONS)!
  await expect(store.commit('a', { ledger: delta, alerts: NO_ALERTS, outgoing: [] })).rejects.toMatchObject({
    kind: 'unavailable',
  })
  other.exec('ROLLBACK')
  other.close()
  await store.commit('a', { ledger: delta, alerts: NO_ALERTS, outgoing: [] })
})

describe('a store file is refused', () => {
  test('that another daemon holds, naming it; it is free once that one is gone', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = open(path)
    expect(() => open(path)).toThrow(new RegExp(`in use by another callwatch .*process ${process.pid}`))
    await store.close()
    open(path)
  })

  test('that is no database', () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    writeFileSync(path, 'this is a text, and it is long enough to be more than a header of a database file '.repeat(20))
    expect(() => open(path)).toThrow('no SQLite database')
  })

  test('that is a folder, with what to name instead', () => {
    const folder = temporaryFolder()
    expect(() => open(folder)).toThrow(`${folder} is a folder; store.path names a file, such as ${folder}/callwatch.db`)
  })

  test('that is of another program', () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    const other = new DatabaseSync(path)
    other.exec('CREATE TABLE notes (text TEXT)')
    other.close()
    expect(() => open(path)).toThrow('a database of another program')
  })

  test('that a newer callwatch wrote', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    await open(path).close()
    const newer = new DatabaseSync(path)
    newer.exec('PRAGMA user_version = 99')
    newer.close()
    expect(() => open(path)).toThrow('written by a newer callwatch (schema 99')
  })
})

test('its files are readable by their owner alone, and so is a backup', async () => {
  const before = process.umask(0)
  onTestFinished(() => void process.umask(before))
  const folder = temporaryFolder()
  const path = join(folder, 'callwatch.db')
  await filled(open(path), A, { a1: 10 })
  backupStore(path, join(folder, 'backup.db'))
  const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)])
  expect(Object.fromEntries(modes)).toEqual({
    'backup.db': '600',
    'callwatch.db': '600',
    'callwatch.db-shm': '600',
    'callwatch.db-wal': '600',
    'callwatch.db.lock': '600',
    ...(existsSync(`${path}.lock-journal`) && { 'callwatch.db.lock-journal': '600' }),
  })
})
