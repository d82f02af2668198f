import { setTimeout as wait } from 'node:timers/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { usageOf } from '../../kit/history/as-shown.ts'
import { openCopyDestination, openStore, type DaemonStoreAddress } from '../../../src/store/open-store.ts'
import { connect, type Connection } from '../../../src/store/postgres/connection.ts'
import { LOCK } from '../../../src/store/postgres/schema.ts'
import { holdStore } from '../../../src/store/sqlite/open-database.ts'
import type { Store } from '../../../src/store/store.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { keyOf, readCallHistory, type HistoryRow } from '../../kit/store/read-call-history.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { restoreDatabase, restoreFile } from '../upgrade/kept-stores.ts'
import { eventually } from '../../kit/eventually.ts'
import { startProgram } from './program.ts'

const VERSION_1 = { version: 1, folder: join(import.meta.dirname, '../upgrade') }
const CALLS = 10_000
const OLD = 'old-host, process 12'
const REPEATED = 'callwatch_call_anomalies_total|repeated_id'
const IN_USE = new RegExp(`is in use by ${OLD}; stop every daemon on it before .* scaling to zero .*this daemon waits`)
const MIGRATED = /is migrated from version 1 of the schema to 3;/

/** Runs a statement on both kinds of stores. Tables are in the schema `callwatch`. */
type Run = (sql: string) => Promise<Record<string, unknown>[]>

const inFile =
  (path: string): Run =>
  async (sql) => {
    using db = new DatabaseSync(path)
    return db.prepare(sql.replaceAll('callwatch.', '')).all()
  }

/** Adds copies of the calls of a kept store until it has ten thousand, all with what version 1 had and later ones have not. */
async function fill(run: Run, columns: string): Promise<void> {
  const [known] = await run('SELECT count(*) AS n FROM callwatch.calls')
  const names = (await run(columns)).map(({ name }) => String(name))
  const values = names.map((name) => (name === 'id' ? "id || ' ' || copy" : name))
  await run(`
    INSERT INTO callwatch.calls (${names.join(', ')})
    SELECT ${values.join(', ')} FROM callwatch.calls CROSS JOIN (SELECT 1 AS copy UNION ALL SELECT 2) AS copies
    ORDER BY copy, target, id LIMIT ${CALLS - Number(known!['n'])}`)
  await run("UPDATE callwatch.calls SET marks = marks | 4096 WHERE id LIKE '%7'")
  await run(
    `INSERT INTO callwatch.counters (target, series, value) SELECT number, '${REPEATED}', 7 FROM callwatch.targets`,
  )
  await run(`
    INSERT INTO callwatch.stale_rollups (quarter, target, version)
    SELECT DISTINCT CAST(floor(finished / 900) AS bigint) * 900, target, 1 FROM callwatch.calls WHERE finished IS NOT NULL
    ON CONFLICT DO NOTHING`)
}

/** All that an upgrade keeps, read by SQL. */
async function contents(run: Run, address: DaemonStoreAddress) {
  const counters = `SELECT target, series, value FROM callwatch.counters WHERE series <> '${REPEATED}' ORDER BY target, series`
  const calls = 'SELECT target, id, marks & ~4096 AS marks FROM callwatch.calls ORDER BY target, id'
  const history = await readCallHistory(address)
  return {
    counters: (await run(counters)).map((row) => ({ ...row })),
    calls: (await run(calls)).map((row) => ({ ...row })),
    history: new Map<string, HistoryRow>(history.map((row) => [keyOf(row), { ...row, call_id: undefined }])),
  }
}

/** Expects that a migrated store has what it had before, and no trace of repeated ids. */
async function expectSame(before: Awaited<ReturnType<typeof contents>>, run: Run, address: DaemonStoreAddress) {
  expect(before.calls).toHaveLength(CALLS)
  expect(before.counters.length).toBeGreaterThan(10)
  expect(await contents(run, address)).toEqual(before)
  const ids = await readCallHistory(address)
  expect(ids.map(({ call_id }) => call_id)).toEqual(ids.map(({ session_id }) => session_id))
  expect([...(await run('SELECT 1 FROM callwatch.calls WHERE (marks & 4096) <> 0'))]).toEqual([])
  expect([...(await run(`SELECT 1 FROM callwatch.counters WHERE series = '${REPEATED}'`))]).toEqual([])
}

/** Expects that the history shows a call with another id than its session. */
async function expectSessions(run: Run, address: DaemonStoreAddress) {
  const [first] = await run('SELECT id FROM callwatch.calls WHERE finished IS NOT NULL ORDER BY target, id LIMIT 1')
  const id = String(first!['id'])
  await run(`UPDATE callwatch.calls SET session = 'of two calls' WHERE id = '${id}'`)
  const found = (await readCallHistory(address)).filter(({ session_id }) => session_id === 'of two calls')
  expect(new Set(found.map(({ call_id }) => call_id))).toEqual(new Set([id]))
}

/** Expects that a report counts the calls by target as they were before. */
async function expectReport(store: Store, { history }: Awaited<ReturnType<typeof contents>>) {
  const finished = [...history.values()].filter(({ finished: at }) => at !== null)
  const rows = await usageOf(store, { from: 0, to: 4e9, by: ['target'], zone: 'UTC' })
  const minutesOf = (calls: typeof finished) => calls.reduce((sum, call) => sum + Number(call['audio_minutes']), 0)
  const expected = [...Map.groupBy(finished, ({ target }) => String(target))].map(([target, calls]) => {
    const none = { ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, lost: 0 }
    const counts = Map.groupBy(calls, ({ status }) => String(status))
    const each = Object.keys(none).map((status) => [status, counts.get(status)?.length ?? 0])
    return [target, { calls: Object.fromEntries(each), audio: expect.closeTo(minutesOf(calls), 6) }] as const
  })
  expect(new Map(rows.map(({ target, calls, minutes }) => [target, { calls, audio: minutes.audio }]))).toEqual(
    new Map(expected),
  )
}

/** Opens a store as a daemon does. */
async function open(address: DaemonStoreAddress, lines: string[]): Promise<Store> {
  const store = await openStore(address, ['slack', 'webhook'], (line) => void lines.push(line))
  onTestFinished(store.close)
  return store
}

test('a file of version 1 with ten thousand calls is migrated, with all that it has, once no other daemon holds it', async () => {
  const path = join(temporaryFolder(), 'callwatch.db')
  restoreFile(VERSION_1, path)
  const run = inFile(path)
  await fill(run, "SELECT name FROM pragma_table_info('calls')")
  await run(`INSERT OR REPLACE INTO holder (only, who) VALUES (1, '${OLD}')`)
  const before = await contents(run, { path })
  const lock = holdStore(path)!
  const lines: string[] = []
  await expect(open({ path }, lines)).rejects.toThrow(`is in use by another callwatch (${OLD}); stop it`)
  expect([...(await run('PRAGMA user_version'))]).toEqual([{ user_version: 1 }])
  lock[Symbol.dispose]()
  const store = await open({ path }, lines)
  expect(lines).toEqual([expect.stringMatching(MIGRATED)])
  await expectSame(before, run, { path })
  await expectReport(store, before)
  await expectSessions(run, { path })
})

inPostgres('a database of version 1', ({ newDatabase }) => {
  async function restored(): Promise<{ url: string; old: Connection; stop: () => Promise<void> }> {
    const url = await newDatabase()
    restoreDatabase(VERSION_1, url)
    const old = await connect(url)
    onTestFinished(old.close)
    return { url, old, stop: await renewing(old) }
  }

  const ofOld = (ends: string) => `statement_timestamp() + interval '${ends}'`
  const JOIN = `
    INSERT INTO callwatch.members (id, name, note, settings, ends) VALUES ('old', '${OLD}', '{}', '{}', ${ofOld('60 s')})`
  const renew = (ends: string) => `UPDATE callwatch.members SET note = '{}', ends = ${ofOld(ends)} WHERE id = 'old'`

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

  test('with ten thousand calls is migrated by one of the daemons that wait until the older one has no lease, and keeps all', async () => {
    const { url, old, stop } = await restored()
    const address = { url, lease: 60 }
    await fill(
      old.run,
      `SELECT column_name AS name FROM information_schema.columns
        WHERE table_schema = 'callwatch' AND table_name = 'calls' AND is_generated = 'NEVER'`,
    )
    await old.run(
      'CREATE ROLE of_version_1; GRANT SELECT ON callwatch.call_history TO of_version_1;' +
        'CREATE VIEW public.theirs AS SELECT session_id FROM callwatch.call_history',
    )
    const before = await contents(old.run, address)
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
    await expectSame(before, old.run, address)
    await expectReport(store!, before)
    await expectSessions(old.run, address)
    // Rights on the view, and views that read it, are still there.
    expect(await old.run("SELECT has_table_privilege('of_version_1', 'callwatch.call_history', 'SELECT') AS has")).toMatchObject([{ has: true }]) // oxfmt-ignore
    expect(await old.run('SELECT FROM public.theirs')).toHaveLength(before.history.size)
    // The older daemon was only halted: it can neither renew its lease nor join again.
    expect(await old.run('SELECT FROM callwatch.members')).toEqual([])
    for (const statement of [renew('1 s'), JOIN]) await expect(old.run(statement)).rejects.toThrow('"note"')
  })

  test('is left alone by a copy, and by a daemon that is stopped while it waits', async () => {
    const { url, old, stop } = await restored()
    await expect(openCopyDestination({ url })).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining(`is in use by ${OLD}; stop every daemon on it`),
    })
    const start = () =>
      startProgram(['run'], {
        CALLWATCH_STORE_URL: url,
        CALLWATCH_BASE_URL: 'http://127.0.0.1:9/',
        CALLWATCH_API_KEY: 'a-key-for-the-tests',
        CALLWATCH_HTTP_HOST: '127.0.0.1',
        CALLWATCH_HTTP_PORT: '0',
      })
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
    expect(await versionOf(old)).toBe(3)
    expect(await next.end('SIGTERM')).toBe(0)
  })
})
