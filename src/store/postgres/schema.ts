import { MIGRATIONS, migrationLine, type Say } from '../migrations.ts'
import { refuseNewer, refuseOlder } from '../schema-version.ts'
import type { Connection, Session } from './connection.ts'
import { transaction } from './transaction.ts'

/** "call" in ASCII: only one daemon at a time migrates or joins. Held until the transaction ends. */
export const LOCK = 'SELECT pg_advisory_xact_lock(1667329132)'

const VERSION_TABLE = 'CREATE TABLE IF NOT EXISTS callwatch.schema_version (version integer NOT NULL)'

/** So long a migration waits for a table: all that use it wait behind the migration. */
const LOCK_TIMEOUT_MS = 10_000

/**
 * Migrates a database to this program's schema, each step whole or not at all. Several daemons may do so at once.
 *
 * @throws {StoreError} refused: of a newer callwatch, or without the privilege
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
      // Another daemon may have done it while this one waited.
      const found = await checkSchema(connection, migrations.length)
      if (found !== from) return found
      // CREATE SCHEMA wants a privilege even where the schema is there.
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
 * Makes sure that a database can be read as it is.
 *
 * @throws {StoreError} refused: as for {@link migrate}, and one that this program's daemon has not migrated yet
 */
export async function expectSchema(
  connection: Connection,
  migrations: readonly string[] = MIGRATIONS.postgres,
): Promise<void> {
  refuseOlder(connection.place, await checkSchema(connection, migrations.length), migrations.length)
}

/** The version of the schema, 0 where there is none; none that is newer than `newest`. */
async function checkSchema({ run, place }: Connection, newest: number): Promise<number> {
  // The catalogue itself: to_regclass may still answer what was so before this transaction waited for the lock.
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
