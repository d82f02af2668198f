import { StoreError } from '../store.ts'
import { connectPatiently } from './connect-patiently.ts'
import type { Connection } from './connection.ts'
import { expectSchema, LOCK } from './schema.ts'
import { codeOf } from './postgres-error.ts'

const LOCK_NOT_AVAILABLE = '55P03'

export type AloneOptions = {
  readOnly: boolean
  /** Makes the schema ready, before the transaction. */
  prepare?: (connection: Connection) => Promise<void>
}

/**
 * Connects to a database, and begins a transaction for as long as which no daemon can begin to use it.
 *
 * @throws {StoreError} refused: a daemon uses it, it is not ours or of another schema, or it lets nobody in
 */
export async function connectAlone(
  url: string,
  { readOnly, prepare = expectSchema }: AloneOptions,
): Promise<Connection> {
  const connection = await connectPatiently(url, { readOnly })
  try {
    await prepare(connection)
    // The other side may be slow: this one waits for it within its transaction.
    await connection.run("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '2s'")
    await takeLock(connection)
    const members = await connection.run(
      'SELECT name FROM callwatch.members WHERE ends > statement_timestamp() ORDER BY joined',
    )
    if (members.length === 0) return connection
    throw new StoreError(
      'refused',
      `${connection.place} is in use by ${members.map(({ name }) => String(name)).join(' and ')}; ` +
        'stop every callwatch that uses it before a store is copied (one that died counts until its lease has ended)',
    )
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function takeLock({ run, place }: Connection): Promise<void> {
  try {
    await run(LOCK)
  } catch (error) {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error
    throw new StoreError(
      'refused',
      `${place} is held by another callwatch that starts or copies just now, or both sides of the copy are this one store`,
      error,
    )
  }
}
