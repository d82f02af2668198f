import { readAddress } from './address.ts'
import { connect, type Connection, type ConnectOptions } from './connection.ts'
import type { UseSession } from './postgres-sql.ts'
import { expectSchema } from './schema.ts'

type Options = Pick<ConnectOptions, 'readOnly' | 'deadline'>

/** A command reads whole tables, and sorts them: a statement may take longer than any of a daemon's. */
const STATEMENT_TIMEOUT_SECONDS = 600

/** How a command uses a database: it connects again if its connection was lost between two statements. */
export type CommandSession = { place: string; use: UseSession; close: () => Promise<void> }

/**
 * Connects to a database while daemons may be using it.
 *
 * @throws {StoreError} refused: nothing of callwatch is in it, or of another schema, or it refuses connections
 */
export async function commandSession(url: string, options: Options = {}): Promise<CommandSession> {
  const open = async (): Promise<Connection> => {
    const connection = await connectForLongStatements(url, options)
    try {
      await expectSchema(connection)
      return connection
    } catch (error) {
      await connection.close()
      throw error
    }
  }
  let connection = await open()
  const use: UseSession = async (work) => {
    if (connection.isDropped()) connection = await open()
    return work(connection)
  }
  return { place: connection.place, use, close: () => connection.close() }
}

/**
 * Connects for statements that take long, to a host that answers within the usual deadline.
 *
 * @throws {StoreError} as {@link connect}
 */
export async function connectForLongStatements(url: string, options: Options = {}): Promise<Connection> {
  const address = readAddress(url)
  const first = await connect(address, options)
  await first.close()
  return connect({ ...address, hosts: [first.host] }, { ...options, deadline: STATEMENT_TIMEOUT_SECONDS })
}
