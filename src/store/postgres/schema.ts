import { expectVersion, MIGRATIONS, newestVersion, statementsFrom, type Say } from '../migrations.ts'
import type { Connection } from './connection.ts'
import { transaction } from './postgres-sql.ts'
import { StoreError } from '../store-error.ts'
import { TABLES } from '../tables.ts'

/** "call" in ASCII. Only one daemon at a time migrates or joins. The lock is held until the transaction ends. */
export const LOCK = 'SELECT pg_advisory_xact_lock(1667329132)'

/** It has no key, so that a publication of all tables would refuse to delete its row. */
const VERSION_TABLE = `
  CREATE TABLE IF NOT EXISTS callwatch.schema_version (version integer NOT NULL);
  ALTER TABLE callwatch.schema_version REPLICA IDENTITY FULL`

/** The columns that the database numbers. */
const NUMBERED = [
  ...Object.entries(TABLES).flatMap(([table, { columns }]) =>
    Object.keys(columns).flatMap((column) => (columns[column] === 'serial' ? [[table, column] as const] : [])),
  ),
  ['members', 'joined'],
  ['members', 'declared'],
] as const

/**
 * Numbers later rows after the existing ones. Sequences are not part of what logical replication or a copy of the tables' rows carries.
 */
export const MOVE_SEQUENCES = `
  SELECT setval(sequence::regclass, highest) FROM (${NUMBERED.map(
    ([table, column]) =>
      `SELECT pg_get_serial_sequence('callwatch.${table}', '${column}') AS sequence, max(${column}) AS highest FROM callwatch.${table}`,
  ).join(' UNION ALL ')}) AS numbered
  WHERE highest > coalesce(pg_sequence_last_value(sequence::regclass), 0)`

type Place = Pick<Connection, 'run' | 'place'>

/** How long a migration waits for a table. All users of the table wait behind the migration. */
const LOCK_TIMEOUT_MS = 10_000

/** Daemons use the database, which must be stopped first. */
export class InUseError extends StoreError {}

/**
 * Migrates a database to this program's schema, completely or not at all. Several daemons may do so at once.
 *
 * @throws {InUseError} daemons of an older version use it
 * @throws {StoreError} refused: a newer callwatch wrote the store, or the user lacks a privilege
 */
export async function migrate(
  connection: Connection,
  migrations = MIGRATIONS.postgres,
  say: Say = () => undefined,
): Promise<void> {
  const newest = newestVersion(migrations)
  if ((await expectSchema(connection, { migrations, oldest: 0 })) === newest) return
  await transaction(connection, async (session) => {
    await session.run(LOCK)
    // Another daemon may have migrated the database while this one waited.
    const version = await expectSchema(connection, { migrations, oldest: 0 })
    if (version === newest) return
    // CREATE SCHEMA requires a privilege even if the schema exists.
    const schemas = await session.run("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'callwatch'")
    if (schemas.length === 0) await session.run('CREATE SCHEMA callwatch')
    await session.run(`${VERSION_TABLE}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    if (version > 0) {
      // A daemon that was halted could renew an expired lease, and continue as if nothing had changed.
      await session.run('DELETE FROM callwatch.members WHERE ends <= statement_timestamp()')
      await expectUnused(connection, 'this version of callwatch migrates it, for example by scaling to zero')
    }
    await session.run(statementsFrom(version, migrations, connection.place, say))
    await session.run('DELETE FROM callwatch.schema_version')
    await session.run(`INSERT INTO callwatch.schema_version VALUES (${newest})`)
  })
}

/**
 * Makes sure that no living daemon uses a database. None can join while the caller holds the {@link LOCK}.
 *
 * @param before what the daemons must be stopped for, as the end of a sentence
 * @throws {InUseError}
 */
export async function expectUnused({ run, place }: Place, before: string): Promise<void> {
  const members = await run('SELECT name FROM callwatch.members WHERE ends > statement_timestamp() ORDER BY joined')
  if (members.length === 0) return
  throw new InUseError(
    'refused',
    `${place} is in use by ${members.map(({ name }) => String(name)).join(' and ')}; stop every daemon on it before ` +
      `${before} (one that died counts until its lease expires)`,
  )
}

/**
 * Whether a database has this program's schema.
 *
 * @throws {StoreError} as {@link migrate}
 */
export async function isMigrated(connection: Connection): Promise<boolean> {
  return (await expectSchema(connection, { oldest: 0 })) === newestVersion(MIGRATIONS.postgres)
}

/**
 * Makes sure that a database can be read without a migration, and returns the version of its schema; 0 if there is none.
 *
 * @param accepted `oldest`: the oldest version that will do; default: the newest
 * @throws {StoreError} refused: as for {@link migrate}, or the database must be migrated by a daemon first
 */
export async function expectSchema(
  { run, place }: Place,
  { migrations = MIGRATIONS.postgres, oldest = newestVersion(migrations) } = {},
): Promise<number> {
  // Reads the catalogue itself, because to_regclass may still return the state from before this transaction waited for the lock.
  const found = await run(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'callwatch' AND tablename = 'schema_version'",
  )
  const [row] = found.length === 0 ? [] : await run('SELECT version FROM callwatch.schema_version')
  const version = Number(row?.['version'] ?? 0)
  expectVersion(place, version, oldest, newestVersion(migrations))
  return version
}
