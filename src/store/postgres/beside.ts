import { connectPatiently } from './connect-patiently.ts'
import type { Connection, ConnectOptions, Session } from './connection.ts'
import { expectSchema } from './schema.ts'

/** A session beside the daemons that use the database, on a connection that is made anew where it was lost in between. */
export type Beside = Session & { readonly place: string; close: () => Promise<void> }

/**
 * Connects to a database beside the daemons that may be using it.
 *
 * @throws {StoreError} refused: nothing of callwatch is in it, or of another schema, or it lets nobody in
 */
export async function connectBeside(url: string, options: Pick<ConnectOptions, 'readOnly'> = {}): Promise<Beside> {
  const open = async (): Promise<Connection> => {
    const connection = await connectPatiently(url, options)
    try {
      await expectSchema(connection)
      return connection
    } catch (error) {
      await connection.close()
      throw error
    }
  }
  let connection = await open()
  const connected = async () => {
    if (connection.isDropped()) connection = await open()
    return connection
  }
  return {
    place: connection.place,
    run: async (statement, args) => (await connected()).run(statement, args),
    each: async (statement, args, take) => (await connected()).each(statement, args, take),
    close: () => connection.close(),
  }
}
