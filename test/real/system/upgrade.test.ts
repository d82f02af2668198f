import { setTimeout as wait } from 'node:timers/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { MIGRATIONS } from '../../../src/store/migrations.ts'
import { openCopyDestination, openStore, type DaemonStoreAddress } from '../../../src/store/open-store.ts'
import { connect, type Connection } from '../../../src/store/postgres/connection.ts'
import { LOCK } from '../../../src/store/postgres/schema.ts'
import { migrate } from '../../../src/store/sqlite/schema.ts'
import { holdStore } from '../../../src/store/sqlite/open-database.ts'
import type { Store } from '../../../src/store/store.ts'
import { eventually } from '../../kit/eventually.ts'
import { usageOf } from '../../kit/history/as-shown.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { restoreDatabase, restoreFile } from '../upgrade/kept-stores.ts'
import { nextVersion } from './next-version.ts'
import { startProgram } from './program.ts'

const KEPT = { version: 1, folder: join(import.meta.dirname, '../upgrade') }
const OLD = 'old-host, process 12'
const IN_USE = new RegExp(`is in use by ${OLD}; stop every daemon on it before .* scaling to zero .*this daemon waits`)
const MIGRATED = /is migrated from version 1 of the schema to 2;/

/** Runs a statement on both kinds of stores. Tables are in the schema `callwatch`. */
type Run = (sql: string) => Promise<Record<string, unknown>[]>

const inFile =
  (path: string): Run =>
  async (sql) => {
    using db = new DatabaseSync(path)
    return db.prepare(sql.replaceAll('callwatch.', '')).all()
  }

const STEP = "ALTER TABLE callwatch.calls ADD COLUMN place TEXT DEFAULT 'here'"

/** A made-up version 2 of databases, until the test ends. */
function addVersion(): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only a test adds a step while it runs
  const steps = MIGRATIONS.postgres.steps as string[]
  steps.push(STEP)
  onTestFinished(() => void steps.pop())
}

/** All that an upgrade keeps, read by SQL. */
async function contents(run: Run) {
  const [counters, calls, history] = [
    await run('SELECT target, series, value FROM callwatch.counters ORDER BY target, series'),
    await run('SELECT target, id, marks FROM callwatch.calls ORDER BY target, id'),
    await run('SELECT * FROM callwatch.call_history ORDER BY target, call_id'),
  ].map((rows) => rows.map((row) => ({ ...row })))
  return { counters: counters!, calls: calls!, history: history! }
}

/** Expects that a migrated store has what it had before, each call with the new column, and, opened, a report that counts its calls. */
async function expectSame(before: Awaited<ReturnType<typeof contents>>, run: Run, store?: Store) {
  expect(before.calls.length).toBeGreaterThan(1000)
  expect(before.counters.length).toBeGreaterThan(10)
  expect(await contents(run)).toEqual(before)
  const [all, ...others] = await run('SELECT place, count(*) AS n FROM callwatch.calls GROUP BY place')
  expect([all?.['place'], Number(all?.['n']), others]).toEqual(['here', before.calls.length, []])
  if (store === undefined) return
  const report = await usageOf(store, { from: 0, to: 4e9, by: ['target'], zone: 'UTC' })
  const counted = report.flatMap(({ calls }) => Object.values(calls)).reduce((sum, calls) => sum + calls, 0)
  expect(counted).toBe(before.history.filter(({ finished }) => finished !== null).length)
}

/** Opens a store as a daemon does. */
async function open(address: DaemonStoreAddress, lines: string[]): Promise<Store> {
  const store = await openStore(address, ['slack', 'webhook'], (line) => void lines.push(line))
  onTestFinished(store.close)
  return store
}

test('a file of version 1 is migrated to a made-up next one, with all that it has, once no other daemon holds it', async () => {
  const path = join(temporaryFolder(), 'callwatch.db')
  restoreFile(KEPT, path)
  const run = inFile(path)
  await run(`INSERT OR REPLACE INTO holder (only, who) VALUES (1, '${OLD}')`)
  const before = await contents(run)
  const lock = holdStore(path)!
  const lines: string[] = []
  await expect(open({ path }, lines)).rejects.toThrow(`is in use by another callwatch (${OLD}); stop it`)
  expect([...(await run('PRAGMA user_version'))]).toEqual([{ user_version: 1 }])
  lock[Symbol.dispose]()
  using db = new DatabaseSync(path)
  migrate(db, path, { store: 'sqlite', steps: [STEP] }, (line) => void lines.push(line))
  expect(lines).toEqual([expect.stringMatching(MIGRATED)])
  expect([...(await run('PRAGMA user_version'))]).toEqual([{ user_version: 2 }])
  await expectSame(before, run)
})

inPostgres('a database of version 1', ({ newDatabase }) => {
  async function restored(): Promise<{ url: string; old: Connection; stop: () => Promise<void> }> {
    const url = await newDatabase()
    restoreDatabase(KEPT, url)
    const old = await connect(url)
    onTestFinished(old.close)
    return { url, old, stop: await renewing(old) }
  }

  const ofOld = (ends: string) => `statement_timestamp() + interval '${ends}'`
  const JOIN = `
    INSERT INTO callwatch.members (id, name, status, settings, ends) VALUES ('old', '${OLD}', '{}', '{}', ${ofOld('60 s')})`
  const renew = (ends: string) => `UPDATE callwatch.members SET ends = ${ofOld(ends)} WHERE id = 'old'`

  /** Holds a lease as a daemon of version 1 does. What is returned lets it die: the lease ends by itself, soon. */
  async function renewing(old: Connection): Promise<() => Promise<void>> {
    await old.run(JOIN)
    const death = new AbortController()
    const renewals = (async () => {
      for (; !death.signal.aborted; await wait(400)) await old.run(renew('60 s'))
      await old.run(renew('1 s'))
    })()
    const stop = async () => {
      death.abort()
      await renewals
    }
    onTestFinished(stop)
    return stop
  }
  const versionOf = async ({ run }: Connection) => Number((await run('SELECT version FROM callwatch.schema_version'))[0]!['version']) // oxfmt-ignore

  test('is migrated by one of the daemons that wait until the older one has no lease, and keeps all', async () => {
    const { url, old, stop } = await restored()
    const address = { url, lease: 60 }
    await old.run(
      'CREATE ROLE of_version_1; GRANT SELECT ON callwatch.call_history TO of_version_1;' +
        'CREATE VIEW public.theirs AS SELECT session_id FROM callwatch.call_history',
    )
    const before = await contents(old.run)
    addVersion()
    const lines: string[] = []
    const opening = [open(address, lines), open(address, lines)]
    await eventually(async () => (lines.length >= 2 ? true : undefined), 150)
    // Both try again while the older daemon lives.
    const [locking, waiting] = [await connect(url), "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"]
    onTestFinished(locking.close)
    await locking.run('BEGIN')
    await locking.run(LOCK)
    await eventually(async () => ((await locking.run(waiting)).length === 2 ? true : undefined), 150)
    await locking.run('ROLLBACK')
    expect(await versionOf(old)).toBe(1)
    await stop()
    const [store] = await Promise.all(opening)
    expect(lines.map((line) => [IN_USE, MIGRATED].findIndex((pattern) => pattern.test(line)))).toEqual([0, 0, 1])
    await expectSame(before, old.run, store)
    // Rights on the view, and views that read it, are still there.
    expect(await old.run("SELECT has_table_privilege('of_version_1', 'callwatch.call_history', 'SELECT') AS has")).toMatchObject([{ has: true }]) // oxfmt-ignore
    expect(await old.run('SELECT FROM public.theirs')).toHaveLength(before.history.length)
    // The older daemon may only be halted: its lease is gone.
    expect(await old.run('SELECT FROM callwatch.members')).toEqual([])
  })

  test('is left alone by a copy, and by a daemon that is stopped while it waits', async () => {
    const { url, old, stop } = await restored()
    addVersion()
    await expect(openCopyDestination({ url })).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining(`is in use by ${OLD}; stop every daemon on it`),
    })
    const main = nextVersion()
    const env = {
      CALLWATCH_STORE_URL: url,
      CALLWATCH_BASE_URL: 'http://127.0.0.1:9/',
      CALLWATCH_API_KEY: 'a-key-for-the-tests',
      CALLWATCH_HTTP_HOST: '127.0.0.1',
      CALLWATCH_HTTP_PORT: '0',
    }
    const start = () => startProgram(['run'], env, main)
    const stopped = start()
    await stopped.printed(IN_USE)
    expect(await stopped.end('SIGTERM')).toBe(0)
    expect(stopped.output().trim().split('\n').at(-1)).toMatch(/"stopped"/)
    expect(await versionOf(old)).toBe(1)
    const next = start()
    await next.printed(IN_USE)
    await stop()
    await next.printed(/page at /)
    expect(next.output()).toMatch(MIGRATED)
    expect(await versionOf(old)).toBe(2)
    expect(await next.end('SIGTERM')).toBe(0)
  })
})
