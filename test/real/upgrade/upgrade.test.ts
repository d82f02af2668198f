import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { updateRollups } from '../../../src/history/rollups.ts'
import { midOf } from '../../../src/ledger/identity.ts'
import { newDraft } from '../../../src/ledger/delta/delta-draft.ts'
import { copyStore } from '../../../src/store/copy.ts'
import { openCopyDestination, openCopySource, type StoreAddress } from '../../../src/store/open-store.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import { MIGRATIONS, newestVersion } from '../../../src/store/migrations.ts'
import { migrate as migrateDatabase } from '../../../src/store/postgres/schema.ts'
import { migrate as migrateFile } from '../../../src/store/sqlite/schema.ts'
import { ledgerBook, listed, seen } from '../../kit/ledger/seen.ts'
import { NOW } from '../../kit/metrics/hand-made-target.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { commitOf, DAY } from '../../kit/store/place.ts'
import { filledStore, TARGETS } from '../../kit/filled-store.ts'
import { rollupProblems } from '../../kit/store/rollup-problems.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import {
  KEPT_VERSIONS,
  keepStores,
  keptContents,
  openAll,
  restoreDatabase,
  restoreFile,
  closeAll,
  contentsOf,
  type KeptStore,
} from './kept-stores.ts'

/** The store as a daemon opens it, and the ledger of its first target. */
async function openFirst(address: StoreAddress) {
  const store = await openAll(address)
  return { store, ledger: (await store.openTarget(TARGETS[0]!, NOW, DAY)).ledger }
}

/** What an upgrade may not lose. @param restore makes the store, as that version left it */
function upgrades(kept: () => KeptStore, restore: () => Promise<StoreAddress>): void {
  test('is opened with all that it has', async () => {
    const address = await restore()
    const contents = keptContents(kept(), address)
    for (const rows of Object.values('tables' in contents ? (contents.tables ?? {}) : {})) expect(rows).not.toEqual([])
    // A later version may have more, but not less.
    expect(await contentsOf(address)).toMatchObject(contents)
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

  test('continues its counts', async () => {
    const address = await restore()
    const series = 'callwatch_calls_total|x'
    const before = await openFirst(address)
    const { delta, add } = newDraft(before.ledger.sync)
    add(series, 1)
    await before.store.commit(TARGETS[0]!.name, commitOf(delta))
    await closeAll(before.store)
    const after = await openFirst(address)
    await closeAll(after.store)
    expect(after.ledger.counters.get(series)).toBeCloseTo(before.ledger.counters.get(series)! + 1, 9)
    expect(after.ledger.sync.seq).toBe(before.ledger.sync.seq + 1)
  })

  test.each(['open', 'final'] as const)(
    'has a call in phase %s that is known again once it is shown with its mid, and counts the next call of its session',
    async (phase) => {
      const address = await restore()
      const { store, ledger } = await openFirst(address)
      const known = [...ledger.calls.values()].find((call) => call.phase === phase)!
      expect(known.mid).toBe(undefined)
      const { started, see, state } = ledgerBook({}, ledger)
      const before = [started(), state.calls.size]
      const now = NOW + DAY / 2
      const row = { ...seen(known.id, known.status), ...known.labels, mid: midOf('of the first call') }
      const { initiatedAt, startedAt, endedAt } = known
      const next = { ...row, status: 'ongoing', mid: midOf('of the next call'), startedAt: now - 60 } as const
      const delta = see({ answers: [listed(now, next, { ...row, initiatedAt, startedAt, endedAt })] })!
      expect([started(), state.calls.size]).toEqual(before.map((count) => count + 1))
      await store.commit(TARGETS[0]!.name, commitOf(delta))
      await closeAll(store)
      const after = await openFirst(address)
      await closeAll(after.store)
      const ofSession = [...after.ledger.calls.ofSession(known.id)].map(({ id, mid, phase: is }) => ({ id, mid, is }))
      expect(ofSession).toHaveLength(2)
      expect(ofSession).toContainEqual({ id: known.id, mid: row.mid, is: phase })
      expect(ofSession).toContainEqual({ id: expect.stringMatching(/^cw:/), mid: next.mid, is: 'open' })
    },
  )
}

/** @param kept which is known once the tests run */
function keptVersion(version: number, kept: () => KeptStore, newDatabase: () => Promise<string>): void {
  describe('in a file', () => {
    const restore = () => {
      const path = join(temporaryFolder(), 'callwatch.db')
      restoreFile(kept(), path)
      return path
    }
    upgrades(kept, async () => ({ path: restore() }))

    test('has the schema of a new store once it is migrated', () => {
      using restored = new DatabaseSync(restore())
      using made = new DatabaseSync(':memory:')
      for (const db of [restored, made]) migrateFile(db, 'here')
      expect(layoutOf(restored)).toEqual(layoutOf(made))
    })
  })

  describe('in a database', () => {
    const restore = async () => {
      const url = await newDatabase()
      restoreDatabase(kept(), url)
      return url
    }
    upgrades(kept, async () => ({ url: await restore() }))

    test('has the schema of a new store once it is migrated', async () => {
      const [restored, made] = [await connect(await restore()), await connect(await newDatabase())]
      for (const { close } of [restored, made]) onTestFinished(close)
      for (const connection of [restored, made]) await migrateDatabase(connection)
      for (const what of LAYOUT) expect(await restored.run(what)).toEqual(await made.run(what))
    })
  })
}

inPostgres('a store', ({ newDatabase }) => {
  describe.each(KEPT_VERSIONS)('that is kept of version %i', (version) =>
    keptVersion(version, () => ({ version, folder: import.meta.dirname }), newDatabase),
  )

  // Before the release of a version: KEEP_STORE=1 npx vitest run --project slow test/real/upgrade
  describe('that is kept now, as before a release', () => {
    const version = newestVersion(MIGRATIONS.sqlite)
    const temporary = mkdtempSync(join(tmpdir(), 'callwatch-kept-'))
    const kept = { version, folder: process.env['KEEP_STORE'] === '1' ? import.meta.dirname : temporary }
    afterAll(() => rmSync(temporary, { recursive: true }))
    test('is kept in both forms, from which the next tests restore it', async () => {
      const [path, url] = [await filledStore(), await newDatabase()]
      const [source, destination] = [await openCopySource({ path }), await openCopyDestination({ url })]
      await copyStore(source, destination)
      await destination.close()
      await source.close()
      await keepStores(kept, path, url)
      expect(readdirSync(kept.folder)).toEqual(
        expect.arrayContaining([`version-${version}.db.gz`, `version-${version}.sql.gz`]),
      )
    })
    keptVersion(version, () => kept, newDatabase)
  })
})

/** All that a schema of SQLite has. Nothing may depend on the order of the columns of a table. */
function layoutOf(db: DatabaseSync): unknown[] {
  const schema = db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all()
  return [
    ...['user_version', 'application_id'].map((name) => db.prepare(`PRAGMA ${name}`).get()),
    ...schema.map(({ type, name, sql }) => [name, type === 'table' ? String(sql).split(', ').toSorted() : sql]),
  ]
}

/** The same of PostgreSQL. */
const LAYOUT = [
  'SELECT version FROM callwatch.schema_version',
  `SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name, is_identity, generation_expression
  FROM information_schema.columns WHERE table_schema = 'callwatch' ORDER BY table_name, column_name`,
  "SELECT relname, relkind, reloptions FROM pg_class WHERE relnamespace = 'callwatch'::regnamespace ORDER BY relname",
  "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'callwatch' ORDER BY indexname",
  "SELECT viewname, definition FROM pg_views WHERE schemaname = 'callwatch' ORDER BY viewname",
  `SELECT conrelid::regclass::text AS relation, conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
  WHERE connamespace = 'callwatch'::regnamespace ORDER BY 1, 2`,
  `SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'callwatch'::regnamespace ORDER BY proname`,
]
