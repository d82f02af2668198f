import { readAddress, type PostgresAddress } from './address.ts'
import { connect, type Connection, type ConnectOptions } from './connection.ts'
import { StoreError } from '../store.ts'

/** A command reads whole tables, and sorts them: a statement may take longer than any of a daemon's (seconds). */
const PATIENCE = 600

/**
 * Connects for statements that take long, to a host that answers at once: the patience is not for those that are dead.
 *
 * @throws {StoreError} as {@link connect}
 */
export async function connectPatiently(
  url: string,
  options: Pick<ConnectOptions, 'readOnly'> = {},
): Promise<Connection> {
  return connect(await answering(readAddress(url), options), { ...options, deadline: PATIENCE })
}

/** The address with that of its hosts that answers first, in their order. */
async function answering(
  address: PostgresAddress,
  options: Pick<ConnectOptions, 'readOnly'>,
): Promise<PostgresAddress> {
  let failure: unknown
  for (const host of address.hosts) {
    const alone = { ...address, hosts: [host] }
    try {
      await (await connect(alone, options)).close()
      return alone
    } catch (error) {
      // Of several failures, the one that somebody has to mend says most.
      if (failure === undefined || (error instanceof StoreError && error.kind === 'refused')) failure = error
    }
  }
  throw failure
}
