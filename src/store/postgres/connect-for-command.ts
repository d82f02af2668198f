import { connect, type Connection, type ConnectOptions } from './connection.ts'

/** A command reads and sorts whole tables, so its statements may take longer than a daemon's. */
const LONG_SECONDS = 600

/**
 * Connects for statements that take long, to a host that answers within the usual deadline.
 *
 * @param prepare prepares the connection; if it throws, the connection is closed
 * @throws {StoreError} as {@link connect}
 */
export async function connectForLongStatements(
  url: string,
  prepare: (connection: Connection) => Promise<unknown>,
  options: Pick<ConnectOptions, 'readOnly' | 'deadline'> = {},
): Promise<Connection> {
  const connection = await connect(url, { ...options, patience: LONG_SECONDS })
  try {
    await prepare(connection)
    return connection
  } catch (error) {
    await connection.close()
    throw error
  }
}
