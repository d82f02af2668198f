import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newDraft } from '../../../src/ledger/delta-draft.ts'
import { copyStore } from '../../../src/store/copy-store.ts'
import { COPY_TABLE_NAMES, type CopyTarget } from '../../../src/store/copy-tables.ts'
import {
  openCopySource,
  openCopyTarget,
  openReader,
  openStore,
  type StoreAddress,
} from '../../../src/store/open-store.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import type { Store } from '../../../src/store/store.ts'
import { callsById, contents } from '../../ledger/seen.ts'
import { NOW } from '../../metrics/hand-made-target.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { DAY, filledStore, TARGETS } from './filled-store.ts'

const LEASE = 10

inPostgres('a store that is copied', ({ server, newDatabase }) => {
  const emptyFile = () => ({ path: join(temporaryFolder(), 'copy.db') })
  const emptyDatabase = async () => ({ url: await newDatabase() })

  async function copy(
    from: StoreAddress,
    to: StoreAddress,
    change: (target: CopyTarget) => CopyTarget = (same) => same,
  ) {
    const source = await openCopySource(from)
    try {
      const target = await openCopyTarget(to)
      try {
        return await copyStore(source, change(target))
      } finally {
        await target.close()
      }
    } finally {
      await source.close()
    }
  }

  /** A store as a daemon opens it, which owns all targets where targets have owners. */
  async function opened(address: StoreAddress): Promise<Store> {
    const store = await openStore({ ...address, lease: LEASE }, ['slack', 'webhook'])
    onTestFinished(() => store.close().catch(() => undefined))
    await store.sharing?.join('test', {}, '{}')
    return store
  }

  test('into PostgreSQL and back is the very same', async () => {
    const path = await filledStore()
    const [database, file] = [await emptyDatabase(), emptyFile()]
    const there = await copy({ path }, database)
    expect(there.differences).toEqual([])
    expect(there.targets).toContainEqual({ name: 'a', seq: 2 })
    expect(COPY_TABLE_NAMES.filter((table) => there.counts[table] === 0)).toEqual([])
    expect(await copy(database, file)).toEqual(there)
    expect(dump(file.path)).toEqual(dump(path))
    const again = await emptyDatabase()
    expect(await copy(database, again)).toEqual(there)
  })

  test('is compared the same in a database that sorts as people do', async () => {
    const path = await filledStore()
    const connection = await server().connect()
    await connection.run("CREATE DATABASE german TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'de'")
    await connection.close()
    const database = { url: await server().database('german') }
    expect((await copy({ path }, database)).differences).toEqual([])
    expect((await copy(database, emptyFile())).differences).toEqual([])
  })

  test('is found at the host that answers, where another one is silent', async () => {
    const path = await filledStore()
    const [database, silent] = [await emptyDatabase(), createServer()]
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    const { port } = silent.address() as AddressInfo
    const both = { url: database.url.replace('@', `@127.0.0.1:${port},`) }
    await copy({ path }, database)
    const reader = await openReader(both)
    expect(reader.place).toMatch(/ at 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+$/)
    await reader.close()
  }, 30_000)

  test('is gone on with: counters, numbers of messages and silences continue', async () => {
    const path = await filledStore()
    const database = await emptyDatabase()
    await copy({ path }, database)
    const [before, after] = [await opened({ path }), await opened(database)]
    await after.sharing?.claim(
      TARGETS.map(({ name }) => name),
      TARGETS.length,
    )
    for (const target of TARGETS) {
      const [old, copied] = [await before.openTarget(target, NOW, DAY), await after.openTarget(target, NOW, DAY)]
      expect(contents(copied.ledger)).toEqual(contents(old.ledger))
      expect(copied.alerts).toEqual(old.alerts)
      const { delta } = newDraft(copied.ledger.facts)
      await after.commit(target.name, {
        ledger: delta,
        alerts: { changed: [], ended: [], notifications: [] },
        outgoing: [],
      })
    }
    for (const notifier of ['slack', 'webhook'])
      expect(await after.outbox(notifier)).toEqual(await before.outbox(notifier))
    const silence = { match: {}, since: NOW, until: NOW + 10, reason: '' }
    expect((await after.addSilence(silence)).id).toBe((await before.addSilence(silence)).id)
    await after.putOutOnce('digest of a day', { kind: 'digest', digest: {} }, ['slack'])
    expect(await after.countOutbox()).toEqual(await before.countOutbox())
  })

  test('is read the same on both sides', async () => {
    const path = await filledStore()
    const database = await emptyDatabase()
    await copy({ path }, database)
    const [old, copied] = [await openReader({ path }), await openReader(database)]
    for (const { name } of TARGETS) {
      expect(await copied.target(name)).toEqual(await old.target(name))
      const calls = callsById(await old.calls(name))
      expect(callsById(await copied.calls(name))).toEqual(calls)
      const [id = ''] = calls.keys()
      expect(await copied.call(name, id)).toEqual(calls.get(id))
      const finishes = async (reader: typeof old, since: number) =>
        (await reader.finishes(name, since)).toSorted((a, b) => a.at - b.at)
      expect(await finishes(copied, 0)).toEqual(await finishes(old, 0))
      expect(await finishes(copied, NOW - 500)).toEqual(await finishes(old, NOW - 500))
      for (const since of [0, NOW + 1]) {
        expect(await copied.evaluations(name, since)).toEqual(await old.evaluations(name, since))
      }
    }
    expect(await copied.target('nobody')).toBeUndefined()
    expect(await copied.call('a', 'nothing')).toBeUndefined()
    const key = 'https://calls.example key'
    expect(await copied.heldUntil(key)).toBe(await old.heldUntil(key))
    expect(await copied.heldUntil('another')).toBeUndefined()
    await Promise.all([old.close(), copied.close()])
  })

  test.each(['a file', 'a database'])('into %s is not kept where it differs', async (kind) => {
    const path = await filledStore()
    const to = kind === 'a file' ? emptyFile() : await emptyDatabase()
    const forgetful = (target: CopyTarget): CopyTarget => ({
      ...target,
      write: async (table, rows) => {
        if (table === 'calls') await target.write(table, rows.slice(1))
        else if (table === 'counters')
          await target.write(
            table,
            rows.map(([name, series]) => [name!, series!, 7]),
          )
        else await target.write(table, rows)
      },
    })
    const { differences } = await copy({ path }, to, forgetful)
    expect(differences).toContain('calls: a, "\\1006')
    expect(differences).toContain('counters: a, callwatch_calls_total|x')
    // It is as empty as before.
    expect((await copy({ path }, to)).differences).toEqual([])
  })

  describe('is refused', () => {
    test('while a daemon uses it', async () => {
      const path = await filledStore()
      const database = await emptyDatabase()
      await copy({ path }, database)
      await opened({ path })
      await expect(copy({ path }, emptyFile())).rejects.toThrow(`${path} is in use by a callwatch`)
      await opened(database)
      await expect(copy(database, emptyFile())).rejects.toThrow(/^the database test_\d+ at \S+ is in use by test; stop/)
    })

    test('while a daemon uses the one that it is to go to', async () => {
      const path = await filledStore()
      const [database, file] = [await emptyDatabase(), emptyFile()]
      await opened(database)
      await expect(copy({ path }, database)).rejects.toThrow('is in use by test')
      await opened(file)
      await expect(copy({ path }, file)).rejects.toThrow(`${file.path} is in use by another callwatch`)
    })

    test('into one that is not empty, which stays as it is', async () => {
      const path = await filledStore()
      const [database, file] = [await emptyDatabase(), { path: await filledStore() }]
      await copy({ path }, database)
      const before = dump(file.path)
      const everything = COPY_TABLE_NAMES.join(', ')
      await expect(copy({ path }, database)).rejects.toThrow(
        `is not empty: it has ${everything}; name an empty database`,
      )
      await expect(copy({ path }, file)).rejects.toThrow(`${file.path} is not empty: it has ${everything}; name a file`)
      expect(dump(file.path)).toEqual(before)
    })

    test('into itself', async () => {
      const path = await filledStore()
      const database = await emptyDatabase()
      await copy({ path }, database)
      await expect(copy(database, database)).rejects.toThrow('both sides of the copy are this one store')
    }, 20_000)

    test('from or into one of a newer callwatch', async () => {
      const path = await filledStore()
      const database = await emptyDatabase()
      await copy({ path }, database)
      const connection = await connect(database.url)
      await connection.run('UPDATE callwatch.schema_version SET version = 99')
      await connection.close()
      await expect(copy(database, emptyFile())).rejects.toThrow('was written by a newer callwatch (schema 99')
      await expect(copy({ path }, database)).rejects.toThrow('was written by a newer callwatch (schema 99')
      const db = new DatabaseSync(path)
      db.exec('PRAGMA user_version = 99')
      db.close()
      await expect(copy({ path }, await emptyDatabase())).rejects.toThrow('was written by a newer callwatch (schema 99')
    })

    test('from where there is none, or into memory', async () => {
      const path = await filledStore()
      await expect(copy({ path: `${path}x` }, emptyFile())).rejects.toThrow(`there is no store ${path}x`)
      await expect(copy(await emptyDatabase(), emptyFile())).rejects.toThrow('holds nothing of callwatch')
      await expect(copy({ path }, { path: ':memory:' })).rejects.toThrow('a copy in memory would be gone at once')
      await expect(copy({ path: ':memory:' }, emptyFile())).rejects.toThrow('the store is in memory')
    })
  })
})

/** All that is in a file, read in another way than the copy does. Where a target's number may differ, its name stands. */
function dump(path: string): unknown {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const tables = ['targets', 'calls', ...COPY_TABLE_NAMES.slice(2)]
    return tables.map((table) => {
      const rows = db.prepare(
        table === 'calls'
          ? 'SELECT name, calls.* FROM calls JOIN targets ON number = target'
          : `SELECT * FROM ${table}`,
      )
      const plain = rows
        .all()
        .map(({ number: _number, ...row }) => ({ ...row, ...('remembered' in row && { target: 0 }) }))
      return [table, plain.map((row) => JSON.stringify(row)).toSorted()]
    })
  } finally {
    db.close()
  }
}
