import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { updateRollups } from '../../../src/history/update-rollups.ts'
import { newDraft } from '../../../src/ledger/delta-draft.ts'
import { copyStore } from '../../../src/store/copy-store.ts'
import { openCopyDestination, openCopySource, openStore, type StoreAddress } from '../../../src/store/open-store.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import { migrate as migrateDatabase, MIGRATIONS as DATABASE_MIGRATIONS } from '../../../src/store/postgres/schema.ts'
import { migrate as migrateFile, MIGRATIONS as FILE_MIGRATIONS } from '../../../src/store/sqlite/schema.ts'
import { NOW } from '../../metrics/hand-made-target.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { commitOf, DAY } from '../contract/place.ts'
import { filledStore, TARGETS } from '../copy/filled-store.ts'
import { rollupProblems } from '../rollup-problems.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import {
  KEPT_VERSIONS,
  keepStores,
  keptContents,
  openAll,
  restoreDatabase,
  restoreFile,
  closeAll,
  contentsOf,
} from './kept-stores.ts'

const LONG = 60_000

/** What an upgrade may not lose. @param restore makes the store, as that version left it */
function upgrades(version: number, restore: () => Promise<StoreAddress>): void {
  test('is opened with all that it has', { timeout: LONG }, async () => {
    const address = await restore()
    const kept = keptContents(version, address)
    for (const rows of Object.values('tables' in kept ? (kept.tables ?? {}) : {})) expect(rows).not.toEqual([])
    // A later version may have more, but not less.
    expect(await contentsOf(address)).toMatchObject(kept)
    const store = await openAll(address)
    onTestFinished(() => closeAll(store))
    const names = TARGETS.map(({ name }) => name)
    expect(await rollupProblems(store, names)).toEqual([])
    for (
      let after = await updateRollups(store, NOW + DAY);
      after;
      after = await updateRollups(store, NOW + DAY, after)
    );
    expect(await store.rows('SELECT 1 FROM callwatch.rollups', [])).not.toEqual([])
    expect(await rollupProblems(store, names)).toEqual([])
  })

  test('continues its counts', { timeout: LONG }, async () => {
    const address = await restore()
    const [identity] = TARGETS
    const series = 'callwatch_calls_total|x'
    const opened = async () => {
      const store = await openAll(address)
      return { store, ledger: (await store.openTarget(identity!, NOW, DAY)).ledger }
    }
    const before = await opened()
    const { delta, add } = newDraft(before.ledger.sync)
    add(series, 1)
    await before.store.commit(identity!.name, commitOf(delta))
    await closeAll(before.store)
    const after = await opened()
    await closeAll(after.store)
    expect(after.ledger.counters.get(series)).toBeCloseTo(before.ledger.counters.get(series)! + 1, 9)
    expect(after.ledger.sync.seq).toBe(before.ledger.sync.seq + 1)
  })
}

describe.each(KEPT_VERSIONS)('a store of version %i in a file', (version) => {
  const restore = () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    restoreFile(version, path)
    return path
  }
  upgrades(version, async () => ({ path: restore() }))

  test('has the tables that this version has always had: a released version is never edited', () => {
    const tablesIn = (db: DatabaseSync) => db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all()
    using kept = new DatabaseSync(restore(), { readOnly: true })
    using made = new DatabaseSync(':memory:')
    migrateFile(made, 'here', FILE_MIGRATIONS.slice(0, version))
    expect(tablesIn(made)).toEqual(tablesIn(kept))
    expect(made.prepare('PRAGMA application_id').get()).toEqual(kept.prepare('PRAGMA application_id').get())
  })
})

inPostgres('a database', ({ newDatabase }) => {
  describe.each(KEPT_VERSIONS)('with a store of version %i', (version) => {
    const restore = async () => {
      const url = await newDatabase()
      restoreDatabase(version, url)
      return url
    }
    upgrades(version, async () => ({ url: await restore() }))

    test('has the tables that this version has always had: a released version is never edited', async () => {
      const [kept, made] = [await connect(await restore()), await connect(await newDatabase())]
      for (const { close } of [kept, made]) onTestFinished(close)
      await migrateDatabase(made, DATABASE_MIGRATIONS.slice(0, version))
      for (const what of LAYOUT) expect(await made.run(what)).toEqual(await kept.run(what))
    })
  })

  describe('that is migrated from version 1', () => {
    const restore = async () => {
      const url = await newDatabase()
      restoreDatabase(1, url)
      const connection = await connect(url)
      onTestFinished(connection.close)
      return { url, ...connection }
    }

    test('waits for what an older daemon adds up, however long that takes, and adds it up again', async () => {
      const { url, run } = await restore()
      const { run: beside, close } = await connect(url)
      onTestFinished(close)
      const [stale] = await run('SELECT quarter, target FROM callwatch.stale_rollups ORDER BY quarter LIMIT 1')
      const key = [Number(stale!['quarter']), Number(stale!['target'])]
      await run('BEGIN')
      await run('DELETE FROM callwatch.stale_rollups WHERE quarter = $1::bigint AND target = $2::int', key)
      await run("INSERT INTO callwatch.rollups (target, width, at, data, total) VALUES ($2::int, 900, $1::bigint, '', '')", key) // oxfmt-ignore
      const opening = openStore({ url, lease: 1 }, [])
      // Longer than a statement of a daemon with this lease may take.
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND clock_timestamp() > query_start + interval '1.2 s'`
      await vi.waitFor(async () => expect(await beside(waiting)).toHaveLength(1), { timeout: 10_000 })
      await run('COMMIT')
      await closeAll(await opening)
      const marks = 'SELECT 1 FROM callwatch.stale_rollups WHERE quarter = $1::bigint AND target = $2::int'
      expect(await run(marks, key)).toHaveLength(1)
    })

    test('is read by whom it was read before', async () => {
      const { url, run } = await restore()
      await run('CREATE ROLE auditor; GRANT SELECT ON ALL TABLES IN SCHEMA callwatch TO auditor')
      await closeAll(await openAll({ url }))
      const forbidden = `SELECT relname FROM pg_class WHERE relnamespace = 'callwatch'::regnamespace AND relkind = 'r'
        AND NOT has_table_privilege('auditor', oid, 'SELECT')`
      expect(await run(forbidden)).toEqual([])
    })

    test('is left as it was while another session has locked its tables for long', { timeout: LONG }, async () => {
      const { url, run } = await restore()
      await run('BEGIN; LOCK TABLE callwatch.rollups IN ACCESS SHARE MODE')
      await run('SET idle_in_transaction_session_timeout = 0')
      await expect(openStore({ url, lease: 1 }, [])).rejects.toMatchObject({
        message: expect.stringMatching(/^another session has locked tables of .* for long, as pg_dump does; try again/),
      })
      expect(await run('SELECT version FROM callwatch.schema_version')).toEqual([{ version: 1 }])
      await run('ROLLBACK')
    })
  })

  // Before the release of a version: KEEP_STORE=1 npx vitest run test/store/upgrade
  test.runIf(process.env['KEEP_STORE'] === '1')('of the newest version is kept', { timeout: LONG }, async () => {
    const [path, url] = [await filledStore(), await newDatabase()]
    const [source, destination] = [await openCopySource({ path }), await openCopyDestination({ url })]
    await copyStore(source, destination)
    await destination.close()
    await source.close()
    await keepStores(FILE_MIGRATIONS.length, path, url)
  })
})

/** All that a schema of PostgreSQL has. */
const LAYOUT = [
  'SELECT version, edition FROM callwatch.schema_version',
  `SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity, ordinal_position
  FROM information_schema.columns WHERE table_schema = 'callwatch' ORDER BY table_name, ordinal_position`,
  "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'callwatch' ORDER BY indexname",
  "SELECT viewname, definition FROM pg_views WHERE schemaname = 'callwatch' ORDER BY viewname",
  `SELECT conrelid::regclass::text AS relation, conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
  WHERE connamespace = 'callwatch'::regnamespace ORDER BY 1, 2`,
  `SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'callwatch'::regnamespace ORDER BY proname`,
]
