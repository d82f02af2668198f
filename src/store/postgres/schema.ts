import { MIGRATIONS, migrationLine, type Say, refuseNewer, refuseOlder } from '../migrations.ts'
import type { Connection, Session } from './connection.ts'
import { transaction } from './postgres-sql.ts'

/** "call" in ASCII. Only one daemon at a time migrates or joins. The lock is held until the transaction ends. */
export const LOCK = 'SELECT pg_advisory_xact_lock(1667329132)'

const VERSION_TABLE = 'CREATE TABLE IF NOT EXISTS callwatch.schema_version (version integer NOT NULL)'

/** How long a migration waits for a table. All users of the table wait behind the migration. */
const LOCK_TIMEOUT_MS = 10_000

/**
 * Migrates a database to this program's schema. Each step is applied completely or not at all. Several daemons may do so at once.
 *
 * @throws {StoreError} refused: a newer callwatch wrote the store, or the user lacks a privilege
 */
export async function migrate(
  connection: Connection,
  migrations: readonly string[] = MIGRATIONS.postgres,
  say: Say = () => undefined,
): Promise<void> {
  for (let version = await checkSchema(connection, migrations.length); version < migrations.length;) {
    const from = version
    version = await transaction(connection, async (session) => {
      await session.run(LOCK)
      // Another daemon may have migrated the database while this one waited.
      const found = await checkSchema(connection, migrations.length)
      if (found !== from) return found
      // CREATE SCHEMA requires a privilege even if the schema exists.
      if (!(await hasSchema(session))) await session.run('CREATE SCHEMA callwatch')
      await session.run(`${VERSION_TABLE}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
      if (from > 0) say(migrationLine(connection.place, from, migrations.length))
      await session.run(migrations[from]!)
      await session.run(`DELETE FROM callwatch.schema_version`)
      await session.run(`INSERT INTO callwatch.schema_version VALUES (${from + 1})`)
      return from + 1
    })
  }
}

/**
 * Whether a database has this program's schema.
 *
 * @throws {StoreError} as {@link migrate}
 */
export async function isMigrated(connection: Connection): Promise<boolean> {
  return (await checkSchema(connection, MIGRATIONS.postgres.length)) === MIGRATIONS.postgres.length
}

/**
 * Makes sure that a database can be read without a migration.
 *
 * @throws {StoreError} refused: as for {@link migrate}, or the database must be migrated by a daemon first
 */
export async function expectSchema(
  connection: Connection,
  migrations: readonly string[] = MIGRATIONS.postgres,
): Promise<void> {
  refuseOlder(connection.place, await checkSchema(connection, migrations.length), migrations.length)
}

/** The version of the schema; 0 if there is none. Throws if it is newer than `newest`. */
async function checkSchema({ run, place }: Connection, newest: number): Promise<number> {
  // Reads the catalogue itself, because to_regclass may still return the state from before this transaction waited for the lock.
  const found = await run(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'callwatch' AND tablename = 'schema_version'",
  )
  if (found.length === 0) return 0
  const [row] = await run('SELECT version FROM callwatch.schema_version')
  const version = Number(row!['version'])
  refuseNewer(place, version, newest)
  return version
}

async function hasSchema(session: Session): Promise<boolean> {
  const found = await session.run("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'callwatch'")
  return found.length > 0
}
