import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { updateRollups } from '../../../src/history/rollups.ts'
import { newDraft } from '../../../src/ledger/delta/delta-draft.ts'
import { COPIED, copyStore, type CopyDestination } from '../../../src/store/copy.ts'
import { openCopySource, openCopyDestination, openStore, type StoreAddress } from '../../../src/store/open-store.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import type { Store } from '../../../src/store/store.ts'
import { contents } from '../../kit/ledger/seen.ts'
import { NOW } from '../../kit/metrics/hand-made-target.ts'
import { inOwnPostgres } from '../../kit/postgres/in-postgres.ts'
import { rollupProblems } from '../../kit/store/rollup-problems.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { commitOf, DAY } from '../../kit/store/place.ts'
import { readCallHistory, type HistoryRow } from '../../kit/store/read-call-history.ts'
import { filledStore, TARGETS } from '../../kit/filled-store.ts'

/** No test renews it. */
const LEASE = 600

inOwnPostgres('a store that is copied', ({ server, newDatabase }) => {
  const emptyFile = () => ({ path: join(temporaryFolder(), 'copy.db') })
  const emptyDatabase = async () => ({ url: await newDatabase() })

  async function copy(
    from: StoreAddress,
    to: StoreAddress,
    change: (destination: CopyDestination) => CopyDestination = (same) => same,
  ) {
    const source = await openCopySource(from)
    try {
      const destination = await openCopyDestination(to)
      try {
        return await copyStore(source, change(destination))
      } finally {
        await destination.close()
      }
    } finally {
      await source.close()
    }
  }

  /** A filled file, and a database that is a copy of it. */
  async function copied() {
    const [path, database] = [await filledStore(), await emptyDatabase()]
    await copy({ path }, database)
    return { path, database }
  }

  /** A store as a daemon opens it, which owns all targets where targets have owners. */
  async function opened(address: StoreAddress): Promise<Store> {
    const store = await openStore({ ...address, lease: LEASE }, ['slack', 'webhook'])
    onTestFinished(() => store.close().catch(() => undefined))
    await store.cluster?.join('test', '{}', {})
    return store
  }

  test('into PostgreSQL and back is the very same', async () => {
    const path = await filledStore()
    const [database, file] = [await emptyDatabase(), emptyFile()]
    const there = await copy({ path }, database)
    expect(there.differences).toEqual([])
    expect(there.targets).toContainEqual({ name: 'a', seq: 3 })
    expect(COPIED.filter((table) => there.counts[table] === 0)).toEqual([])
    expect(await copy(database, file)).toEqual(there)
    expect(dump(file.path)).toEqual(dump(path))
    const again = await emptyDatabase()
    expect(await copy(database, again)).toEqual(there)
  })

  test('into PostgreSQL and back shows the same in call_history', async () => {
    const { path, database } = await copied()
    const file = emptyFile()
    await copy(database, file)
    const shown = await readCallHistory({ path })
    expect(new Set(shown.map(({ status }) => status))).toEqual(new Set(['ongoing', 'lost', 'ended', 'rejected']))
    expect(await readCallHistory(file)).toEqual(shown)
    // A timestamptz has microseconds.
    const exact = (row: HistoryRow) =>
      Object.values(row).map((value) => (typeof value === 'number' ? expect.closeTo(value, 5) : value))
    const there = await readCallHistory(database)
    expect(there.map((row) => Object.values(row))).toEqual(shown.map(exact))
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

  test('continues with its counters, its numbers of silences and what receivers were told', async () => {
    const { path, database } = await copied()
    const [before, after] = [await opened({ path }), await opened(database)]
    const names = TARGETS.map(({ name }) => name)
    await after.cluster?.acquire(names, names.length)
    for (const target of TARGETS) {
      const [old, now] = [await before.openTarget(target, NOW, DAY), await after.openTarget(target, NOW, DAY)]
      expect(contents(now.ledger)).toEqual(contents(old.ledger))
      expect(now.alerts).toEqual(old.alerts)
      await after.commit(target.name, commitOf(newDraft(now.ledger.sync).delta))
    }
    expect(await after.notified()).toEqual(await before.notified())
    const silence = { match: {}, since: NOW, until: NOW + 10, reason: '' }
    expect((await after.addSilence(silence)).id).toBe((await before.addSilence(silence)).id)
  })

  test('has its charts from the copied calls, also once these are added up', async () => {
    const { database } = await copied()
    const file = emptyFile()
    await copy(database, file)
    for (const place of [database, file]) {
      const store = await opened(place)
      await store.cluster?.join('', '{}', {})
      const stale = () => store.rows('SELECT quarter FROM callwatch.stale_rollups', [])
      const problems = () =>
        rollupProblems(
          store,
          TARGETS.map(({ name }) => name),
        )
      expect(await stale()).not.toEqual([])
      expect(await problems()).toEqual([])
      let after = await updateRollups(store, NOW + DAY)
      while (after !== undefined) after = await updateRollups(store, NOW + DAY, after)
      expect(await stale()).toEqual([])
      expect(await problems()).toEqual([])
    }
  })

  test.each(['a file', 'a database'])('into %s is not kept where it differs', async (kind) => {
    const path = await filledStore()
    const to = kind === 'a file' ? emptyFile() : await emptyDatabase()
    const forgetful = (destination: CopyDestination): CopyDestination => ({
      ...destination,
      batch: ([step, ...more]) => {
        const { statement, given = [] } = step!
        if (statement.includes('INTO callwatch.calls')) return destination.batch([{ statement, given: given.slice(1) }])
        if (!statement.includes('INTO callwatch.counters')) return destination.batch([step!, ...more])
        return destination.batch([{ statement, given: given.map(([name, key]) => [name!, key!, 7]) }])
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
      const { path, database } = await copied()
      await opened({ path })
      await expect(copy({ path }, emptyFile())).rejects.toThrow(`${path} is in use by a callwatch`)
      await opened(database)
      await expect(copy(database, emptyFile())).rejects.toThrow(/^the database test_\w+ at \S+ is in use by test; stop/)
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
      const { path, database } = await copied()
      const file = { path: await filledStore() }
      const before = dump(file.path)
      const everything = COPIED.join(', ')
      await expect(copy({ path }, database)).rejects.toThrow(
        `is not empty: it has ${everything}; name an empty database`,
      )
      await expect(copy({ path }, file)).rejects.toThrow(`${file.path} is not empty: it has ${everything}; name a file`)
      expect(dump(file.path)).toEqual(before)
    })

    test('into itself', async () => {
      const { database } = await copied()
      await expect(copy(database, database)).rejects.toThrow('--from and --to are the same store')
    })

    test('from or into one of a newer callwatch', async () => {
      const { path, database } = await copied()
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
      await expect(copy(await emptyDatabase(), emptyFile())).rejects.toThrow('contains no callwatch store')
      await expect(copy({ path }, { path: ':memory:' })).rejects.toThrow('a copy in memory would be gone at once')
      await expect(copy({ path: ':memory:' }, emptyFile())).rejects.toThrow('the store is in memory')
    })
  })
})

/** All that is in a file, read in another way than the copy does, with the name of a target instead of its number. */
function dump(path: string): unknown {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const names = new Map(
      db
        .prepare('SELECT number, name FROM targets')
        .all()
        .map(({ number, name }) => [number, name]),
    )
    return COPIED.map((table) => {
      const rows = db.prepare(`SELECT * FROM ${table}`).all()
      const named = rows.map(({ number: _number, ...row }) =>
        JSON.stringify({ ...row, ...('target' in row && { target: names.get(row['target']) ?? row['target'] }) }),
      )
      return [table, named.toSorted()]
    })
  } finally {
    db.close()
  }
}
