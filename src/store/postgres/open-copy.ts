import { expectEmpty, type CopyDestination, type CopySource } from '../copy.ts'
import { StoreError } from '../store-error.ts'
import { connectForLongStatements, type Connection } from './connection.ts'
import { codeOf, LOCK_NOT_AVAILABLE } from './postgres-error.ts'
import { sqlWithin } from './postgres-sql.ts'
import { expectSchema, expectUnused, LOCK, migrate, MOVE_SEQUENCES } from './schema.ts'

/**
 * Opens a store to copy it. No daemon can open it meanwhile. A standby is accepted.
 *
 * @throws {StoreError} refused: a daemon uses it, it is no store of callwatch or has another schema, or it refuses connections
 */
export async function openPostgresSource(url: string): Promise<CopySource> {
  const prepare = async (connection: Connection) => {
    await expectSchema(connection)
    await keepAway(connection)
  }
  const connection = await connectForLongStatements(url, prepare, { readOnly: true })
  return { ...sqlWithin(connection.place, connection), close: connection.close }
}

/**
 * Opens an empty store to copy another one into it. No daemon can open it meanwhile.
 *
 * @throws {StoreError} refused: it is not empty, a daemon uses it, it is of a newer schema, or it refuses connections
 */
export async function openPostgresDestination(url: string): Promise<CopyDestination> {
  const connection = await connectForLongStatements(url, async (opened) => {
    await migrate(opened)
    await keepAway(opened)
    await expectEmpty(sqlWithin(opened.place, opened), 'name an empty database')
  })
  return {
    ...sqlWithin(connection.place, connection),
    commit: async () => {
      await connection.run(MOVE_SEQUENCES)
      await connection.run('COMMIT').catch((error: unknown) => {
        throw new StoreError(
          'unavailable',
          `the commit of the copy to ${connection.place} got no answer (${String(error)}); ` +
            'copy again: if it was committed, that is refused because the store is not empty',
          error,
        )
      })
    },
    // Closing the connection rolls back what was not committed.
    close: connection.close,
  }
}

/** Begins a transaction. Until it ends, no daemon can start to use the database. */
async function keepAway(connection: Connection): Promise<void> {
  // This transaction waits for the other store, which may be slow.
  await connection.run("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '2s'")
  await connection.run(LOCK).catch((error: unknown) => {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error
    throw new StoreError(
      'refused',
      `${connection.place} is locked: a daemon is starting, another copy is running, or --from and --to are the same store`,
      error,
    )
  })
  await expectUnused(connection, 'a store is copied')
}
