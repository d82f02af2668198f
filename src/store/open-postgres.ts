import { defer, lastValueFrom, retry, timer } from 'rxjs'
import { systemClock, type Clock } from '../clock/clock.ts'
import { clusterOf } from './cluster.ts'
import { clusterStoreOn, type StoreWithCluster } from './cluster-store.ts'
import { hintChannel } from './hint-channel.ts'
import { readAddress } from './postgres/address.ts'
import { connect, connectForLongStatements, type Connection, type ConnectOptions } from './postgres/connection.ts'
import { openPool, type Pool } from './postgres/pool.ts'
import { postgresSql } from './postgres/postgres-sql.ts'
import { expectSchema, InUseError, isMigrated, migrate, MOVE_SEQUENCES } from './postgres/schema.ts'
import type { Say } from './migrations.ts'
import { storeOn } from './store-on.ts'

export type PostgresStoreOptions = {
  /** As in {@link readAddress}. */
  url: string
  /** All configured receivers. Whatever waits for others is removed. */
  receivers?: readonly string[] | undefined
  /** A daemon that does not renew its lease for this long is dead (seconds). */
  lease: number
  /** After this many seconds without an answer, the database counts as unavailable. */
  deadline?: number
  clock?: Clock
  /** Logs the progress of a migration. */
  say?: Say
}

/** The most concurrent statements. */
const CONNECTIONS = 4

/** The most concurrent queries of the history, and how long each may take (seconds). */
const READ_CONNECTIONS = 2
const READ_DEADLINE_SECONDS = 60

/** A target may have a million calls. */
const LONG_DEADLINE_SECONDS = 120

/** A migration may rewrite tables of millions of rows. */
const MIGRATION_DEADLINE_SECONDS = 600

/** The pause before the next attempt to migrate, while older daemons use the database. */
const IN_USE_RETRY_SECONDS = 3

/** The default (seconds). It leaves time for two attempts to renew a lease. */
const deadlineFor = (lease: number) => Math.max(1, Math.min(5, lease / 3))

/**
 * Opens the store that several daemons share: a schema `callwatch` in a PostgreSQL database. A commit is complete once it is on the
 * disk, and on the synchronous standby if there is one. Only the owner of a target may commit it.
 *
 * @throws {StoreError} refused: wrong address, user, password or database, too old a server, or of a newer callwatch;
 * unavailable: it cannot be reached now
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<StoreWithCluster> {
  const { lease, receivers, clock = systemClock } = options
  const hints = hintChannel(clock)
  const { sql, membership, reading, setUrl } = await openDatabase({ ...options, hints })
  const cluster = clusterOf(membership, { lease, onJoin: () => notified.clear() })
  const { store, notified, events } = storeOn(sql, { receivers, reading, cluster, clock })
  return {
    ...store,
    close: async () => void (await Promise.all([store.close(), membership.close()])),
    cluster: { ...clusterStoreOn(sql, cluster), numberEvents: events.number, setUrl, hints: hints.channelOn(sql) },
  }
}

/** Connects to a database, and migrates it to this program's schema. */
async function openDatabase({
  url,
  lease,
  clock = systemClock,
  deadline = deadlineFor(lease),
  say,
  hints,
}: PostgresStoreOptions & { hints: ReturnType<typeof hintChannel> }) {
  let address = readAddress(url)
  const open = async (given: ConnectOptions = {}) => {
    const connection = await connect(address, { deadline, clock, ...given })
    // The next connection tries this host first, because trying a dead host would cost it a deadline.
    const others = address.hosts.filter((host) => host !== connection.host)
    address = { ...address, hosts: [connection.host, ...others] }
    return connection
  }
  const isWanted = ({ host }: Connection) => host === address.hosts[0]
  // A primary without its synchronous standby answers everything but commits, one that was demoted everything but writes. Then the
  // other hosts are tried first.
  const giveUp = ({ host }: Connection) => {
    address = { ...address, hosts: [...address.hosts.filter((other) => other !== host), host] }
  }
  const pool = openPool({ open: () => open(), size: CONNECTIONS, clock, isWanted, giveUp })
  const openListening = async () => {
    const connection = await open({ onNotify: hints.onNotify })
    await connection.run(MOVE_SEQUENCES)
    await hints.listen(connection)
    return connection
  }
  const memberPool = openPool({ open: openListening, size: 1, clock, isWanted, giveUp })
  // Queries of the history may take long. Nothing else waits for them, and their time-outs do not show that the database is down.
  const readPool = openPool({
    open: () => connect(address, { deadline: READ_DEADLINE_SECONDS, clock, prepare: false }),
    size: READ_CONNECTIONS,
    clock,
    isWanted,
  })
  const once =
    (seconds: number) =>
    async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
      await using connection = await connect(address, { deadline: seconds, clock })
      return await work(connection)
    }
  try {
    if (!(await pool.use(isMigrated)))
      await whenUnused(() => once(MIGRATION_DEADLINE_SECONDS)((opened) => migrate(opened, undefined, say)), clock, say)
  } catch (error) {
    await pool.close()
    throw error
  }
  const sqlOf = ({ use, close }: Pool) => ({ ...postgresSql(address.place, use, once(LONG_DEADLINE_SECONDS)), close })
  return {
    sql: sqlOf(pool),
    membership: sqlOf(memberPool),
    reading: sqlOf(readPool),
    setUrl: (next: string) => {
      address = { ...readAddress(next), hosts: address.hosts }
    },
  }
}

/** Repeats a migration until no older daemon uses the database. */
function whenUnused(migrateOnce: () => Promise<void>, { scheduler }: Clock, say?: Say): Promise<void> {
  const delay = (error: unknown, attempt: number) => {
    if (!(error instanceof InUseError)) throw error
    if (attempt === 1) say?.(`${error.message}; this daemon waits for that, and then continues automatically`)
    return timer(IN_USE_RETRY_SECONDS * 1000, scheduler)
  }
  return lastValueFrom(defer(migrateOnce).pipe(retry({ delay })))
}

/**
 * Opens a database that daemons may be using, with one connection. If the connection is lost between two statements, a new one is
 * made.
 *
 * @param options with `readOnly` a standby is accepted
 * @throws {StoreError} refused: the database has no store, or one with another schema, or it refuses connections
 */
export async function openPostgresBeside(url: string, options: { readOnly: boolean; deadline?: number }) {
  const pool = openPool({ open: () => connectForLongStatements(url, expectSchema, options), size: 1 })
  return pool.use(async ({ place }) => ({ ...postgresSql(place, pool.use), close: pool.close }))
}
