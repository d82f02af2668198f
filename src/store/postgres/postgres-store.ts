import { systemClock, type Clock } from '../../clock/clock.ts'
import type { SyncState } from '../../ledger/state.ts'
import { batched } from '../batched.ts'
import { alertsByTarget, parse } from '../rows.ts'
import type { StoreWithCluster } from '../cluster-store.ts'
import { isBug, StoreError, type Commit, type NewEvents, type RoutedChange, type Store } from '../store.ts'
import { readAddress } from './address.ts'
import { connect, type Connection, type Session } from './connection.ts'
import { countFinished, deleteExpired, evictedCalls, finishedPerMinute, openCalls, usedMinutes } from './history.ts'
import { deleteEvents, eraseParticipants, eventsFrom, latestEvents, logEvents, numberEvents } from './events.ts'
import { addTargets, loadTargets, type Wanted } from './load-targets.ts'
import { membership } from './membership.ts'
import { publish, readOverviews } from './overviews.ts'
import { postgresOutbox } from './outbox.ts'
import { saveRollups } from './rollups.ts'
import { openPool, type Pool } from './pool.ts'
import { isAnswer, isUnresponsive } from './postgres-error.ts'
import { LOSE_OPEN_CALLS } from './removed-targets.ts'
import { lockForReset, removeTarget } from './reset-target.ts'
import { isMigrated, migrate } from './schema.ts'
import { postgresSilences } from './silences.ts'
import { transaction } from './transaction.ts'
import { postgresWebhooks } from './webhooks.ts'
import { writeCommits, type FencedCommit } from './write-commits.ts'

export type PostgresStoreOptions = {
  /** As in {@link readAddress}. */
  url: string
  /** All that are configured; what waits for any other is removed. */
  receivers?: readonly string[] | undefined
  /** How long a daemon lives without renewing its lease (seconds). */
  lease: number
  /** After so many seconds in which nothing is heard from the database, it counts as unavailable. */
  deadline?: number
  clock?: Clock
}

const DISOWN = 'UPDATE callwatch.targets SET owner = NULL, epoch = epoch + 1, seq = $2, sync = $3 WHERE name = $1'

/** Else a target that is added again later would show its old alerts. */
const REMOVE_OVERVIEW = 'DELETE FROM callwatch.overviews USING callwatch.targets WHERE target = number AND name = $1'

const LONG_REMOVED = 'SELECT name FROM callwatch.targets WHERE removed < $1 LIMIT 1'

const SIZE = `
  SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_catalog.pg_class
  WHERE relnamespace = 'callwatch'::regnamespace AND relkind = 'r'`

/** Statements that run at the same time, at most, and how many of them write commits: others must not wait behind those. */
const CONNECTIONS = 4
const COMMIT_CONNECTIONS = 2

/** Queries of the history that run at the same time, and how long one may take (seconds). */
const READ_CONNECTIONS = 2
const READ_DEADLINE_SECONDS = 60

/** Commits and calls that are written in one statement: what takes longer than its timeout would never be written. */
const COMMITTED_TOGETHER = 1000

/** Targets, or keys, that are read together at most. */
const BATCH = 200

/** A target may have a million calls. */
const RESET_TIMEOUT_SECONDS = 120

/** A migration may rewrite tables of millions of rows. */
const MIGRATION_DEADLINE_SECONDS = 600

/** The default (seconds): it leaves time for two attempts to renew a lease. */
const deadlineFor = (lease: number) => Math.max(1, Math.min(5, lease / 3))

/**
 * The store that several daemons share: a schema `callwatch` in a PostgreSQL database. A commit is on its disk, and on its
 * synchronous standby, before it counts; only the owner of a target may commit it.
 *
 * @throws {StoreError} refused: wrong address, user, password or database, too old a server, or of a newer callwatch;
 * unavailable: it cannot be reached now
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<StoreWithCluster> {
  const { url, lease, receivers, clock = systemClock, deadline = deadlineFor(lease) } = options
  let address = readAddress(url)
  const open = async () => {
    const connection = await connect(address, { deadline, clock })
    // The next connection tries this host first: a dead one would cost it a deadline.
    const others = address.hosts.filter((host) => host !== connection.host)
    address = { ...address, hosts: [connection.host, ...others] }
    return connection
  }
  const isWanted = ({ host }: Connection) => host === address.hosts[0]
  // A primary whose synchronous standby is gone answers all but commits: the other hosts are tried first then.
  const giveUp = ({ host }: Connection) => {
    address = { ...address, hosts: [...address.hosts.filter((other) => other !== host), host] }
  }
  const pool = openPool({ open, size: CONNECTIONS, clock, isWanted, giveUp })
  const memberPool = openPool({ open, size: 1, clock, isWanted, giveUp })
  // Queries of the history may take long: nothing else waits for them, and they say nothing of the database.
  const readPool = openPool({
    open: () => connect(address, { deadline: READ_DEADLINE_SECONDS, clock, prepare: false }),
    size: READ_CONNECTIONS,
    clock,
    isWanted,
    giveUp: () => undefined,
  })
  const outbox = postgresOutbox(receivers)
  // A daemon that is refused must not clear the outbox.
  const members = membership(memberPool, { lease, onJoin: outbox.clear })

  try {
    if (!(await pool.use(isMigrated))) {
      const connection = await connect(address, { deadline: MIGRATION_DEADLINE_SECONDS, clock })
      try {
        await migrate(connection)
      } finally {
        await connection.close()
      }
    }
  } catch (error) {
    await pool.close()
    throw error
  }

  const session: Session = {
    run: (statement, args) => pool.use(({ run }) => run(statement, args)),
    each: (statement, args, take) => pool.use(({ each }) => each(statement, args, take)),
  }
  const allOrNothing = <T>(work: (session: Session) => Promise<T>) =>
    pool.use((connection) => transaction(connection, work))

  const commitTogether = batched((commits) => commitEach(pool, commits), {
    most: COMMITTED_TOGETHER,
    size: ({ commit: { ledger } }: FencedCommit) => 1 + ledger.calls.size + ledger.evicted.length,
    concurrent: COMMIT_CONNECTIONS,
  })

  async function commit(target: string, whole: Commit): Promise<void> {
    const fence = members.fenceOf(target)
    if (fence === undefined) throw notOwned(target)
    const { routedChanges } = whole
    const fenced = { target, commit: whole, fence }
    if (routedChanges.length === 0) return commitTogether(fenced)
    await allOrNothing(async (session) => {
      // This statement is the first: it locks the target's row before any other row.
      const [written] = await Promise.all([
        writeCommits(session, [fenced]),
        outbox.enqueueChanges(session, routedChanges),
      ])
      if (!written[0]) throw stale(target)
    })
  }

  async function pauses(keys: readonly string[]): Promise<Map<string, number>> {
    if (keys.length === 0) return new Map()
    const rows = await session.run('SELECT key, until FROM callwatch.pauses WHERE key = ANY ($1::text[])', [keys])
    return new Map(rows.map(({ key, until }) => [String(key), Number(until)]))
  }

  const load = batched((wanted: readonly Wanted[]) => pool.use((connection) => loadTargets(connection, wanted)), {
    most: BATCH,
  })
  const pausedUntil = batched(
    async (keys: readonly string[]) => {
      const found = await pauses(keys)
      return keys.map((key) => found.get(key))
    },
    { most: BATCH },
  )

  const expireAlerts: Store['expireAlerts'] = async (target, routedChanges, events, removed) => {
    await allOrNothing(async (closing) => {
      const [row] = await closing.run('SELECT sync FROM callwatch.targets WHERE name = $1 FOR UPDATE', [target])
      if (row === undefined) return
      // An owner that does not know of this yet would commit the alerts again: a sequence number that was never committed
      // makes its next commit stale.
      const sync = parse<SyncState>(row['sync'])
      const seq = sync.seq + 1
      await closing.run(DISOWN, [target, seq, JSON.stringify({ ...sync, seq })])
      await removeAlerts(closing, target, routedChanges, events)
      if (removed !== undefined) await closing.run(LOSE_OPEN_CALLS, [target, removed + (sync.clockSkew ?? 0)])
      await closing.run(REMOVE_OVERVIEW, [target])
    })
  }

  async function removeAlerts(
    removing: Session,
    target: string,
    routedChanges: readonly RoutedChange[],
    events: NewEvents | undefined,
  ): Promise<void> {
    const removed = await removing.run(
      `DELETE FROM callwatch.alerts USING callwatch.targets
      WHERE target = number AND name = $1 RETURNING alert`,
      [target],
    )
    // Of several daemons that find the target removed, one notifies.
    const keys = new Set(removed.map(({ alert }) => String(alert)))
    const ended = routedChanges.filter(({ change }) => keys.has(change.key))
    await outbox.enqueueChanges(removing, ended)
    if (keys.size > 0) await logEvents(removing, target, events)
  }

  /** A transaction that may take long. */
  async function deleting(work: (session: Session) => Promise<void>): Promise<void> {
    const connection = await connect(address, { deadline: RESET_TIMEOUT_SECONDS, clock })
    try {
      await transaction(connection, work)
    } finally {
      await connection.close()
    }
  }

  return {
    openTarget: (identity, created, longestWindow) => load({ identity, created, longestWindow }),
    resetTarget: async (name, routedChanges, events) => {
      await deleting(async (resetting) => {
        await lockForReset(resetting, name, members.self())
        await removeAlerts(resetting, name, routedChanges, events)
        await removeTarget(resetting, name)
      })
      members.dropTarget(name)
    },
    evictedCalls: (target, ids) => evictedCalls(session, target, ids),
    commit,
    outbox: (receiver) => outbox.read(session, receiver),
    claimOutbox: async (ids, claimed) => {
      if (!claimed) await outbox.unclaim(session, ids)
      else if (!(await outbox.claim(session, ids, members.self()))) throw notSender()
    },
    removeFromOutbox: (ids, notes) => outbox.remove(session, ids, notes),
    noteEpisodes: (notes) => outbox.note(session, notes),
    countOutbox: () => outbox.count(session),
    setReceivers: (names) => outbox.setReceivers(session, names),
    enqueueOnce: (key, content, receivers) => outbox.enqueueOnce(session, key, content, receivers),
    strayTargets: async (targets) => {
      const rows = await session.run(
        `SELECT name, data FROM callwatch.targets LEFT JOIN callwatch.alerts ON target = number
        WHERE name <> ALL ($1::text[]) AND (removed IS NULL OR data IS NOT NULL) ORDER BY name, alert`,
        [targets],
      )
      return alertsByTarget(rows)
    },
    expireAlerts,
    ...postgresSilences(session),
    pausedUntil,
    // Several daemons use one key, and the service may give each another time.
    pauseUntil: async (key, until) => {
      await session.run(
        `INSERT INTO callwatch.pauses AS known (key, until) VALUES ($1, $2::float8)
        ON CONFLICT (key) DO UPDATE SET until = greatest(known.until, excluded.until)`,
        [key, until],
      )
    },
    countFinished: (target, from, to) => countFinished(session, target, from, to),
    finishedPerMinute: (targets, from, minutes) => finishedPerMinute(session, targets, from, minutes),
    openCalls: (targets) => openCalls(session, targets),
    usedMinutes: (target, from, to) => usedMinutes(session, target, from, to),
    events: (position, most) => eventsFrom(session, position, most),
    latestEvents: (most) => latestEvents(session, most),
    ...postgresWebhooks(session, allOrNothing),
    saveRollups: (update) => allOrNothing((saving) => saveRollups(saving, update)),
    rows: (statement, args) => readPool.use(({ run }) => run(statement, args)),
    deleteExpired: async (before) => {
      await deleteExpired(session, before, clock, allOrNothing)
      if ((await session.run(LONG_REMOVED, [before])).length === 0) return
      await deleting(async (expiring) => {
        for (const { name } of await expiring.run(`${LONG_REMOVED} FOR UPDATE SKIP LOCKED`, [before]))
          await removeTarget(expiring, String(name))
      })
    },
    deleteEvents: (before, end) => deleteEvents(session, before, end),
    eraseParticipants: () => eraseParticipants(allOrNothing),
    size: async () => {
      const [row] = await session.run(SIZE)
      return Number(row!['bytes'])
    },
    close: async () => {
      await Promise.all([pool.close(), memberPool.close(), readPool.close()])
    },
    cluster: {
      ...members,
      pauses,
      addTargets: (identities, created) => pool.use((connection) => addTargets(connection, identities, created)),
      publish: async (overviews) => {
        const self = members.self()
        if (self !== undefined) await publish(session, self, overviews)
      },
      numberEvents: () => allOrNothing(numberEvents),
      overviewsSince: (cursor) => readOverviews(session, cursor),
    },
  }
}

/**
 * Writes commits of different targets in one statement; one by one where that is refused, since one alone may be why.
 *
 * @returns an error of each that was not written
 */
async function commitEach(pool: Pool, commits: readonly FencedCommit[]): Promise<(void | Error)[]> {
  try {
    const written = await pool.use((connection) => writeCommits(connection, commits))
    return commits.map(({ target }, i) => (written[i] ? undefined : stale(target)))
  } catch (error) {
    const isOfOne = isBug(error) || (isAnswer(error) && !isUnresponsive(error))
    if (commits.length === 1 || !isOfOne) throw error
    const failed: (void | Error)[] = []
    for (const one of commits) failed.push(...(await commitEach(pool, [one]).catch((reason: Error) => [reason])))
    return failed
  }
}

function notOwned(target: string): StoreError {
  return new StoreError('stale', `this daemon does not own target ${target}; only its owner commits it`)
}

function notSender(): StoreError {
  return new StoreError('stale', 'this daemon is not the leader; only the leader sends notifications')
}

function stale(target: string): StoreError {
  return new StoreError(
    'stale',
    `another process has committed or acquired target ${target} since this daemon last committed it`,
  )
}
