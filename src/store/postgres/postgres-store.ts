import type { AlertInstance } from '../../alerts/alert-instance.ts'
import { systemClock, type Clock } from '../../clock/clock.ts'
import type { SharedStore } from '../sharing.ts'
import { StoreError, type Addressed, type Commit } from '../store.ts'
import { readAddress } from './address.ts'
import { connect, type Session } from './connection.ts'
import { countFinished, finishedCalls, trimHistory } from './history.ts'
import { loadTarget, parse } from './load-target.ts'
import { membership } from './membership.ts'
import { readMissed } from './missed.ts'
import { postgresOutbox, type OutboxOptions } from './outbox.ts'
import { openPool } from './pool.ts'
import { resetTarget } from './reset-target.ts'
import { migrate } from './schema.ts'
import { postgresSilences } from './silences.ts'
import { transaction } from './transaction.ts'
import { writeCommit } from './write-commit.ts'

export type PostgresStoreOptions = OutboxOptions & {
  /** As in {@link readAddress}. */
  url: string
  /** For how long a daemon lives that is not heard of (seconds). */
  lease: number
  /** After so many seconds in which nothing is heard from the database, it counts as unavailable. */
  deadline?: number
  clock?: Clock
}

/** Commits that are on their way at the same time, at most. */
const CONNECTIONS = 4

/** Seconds for what takes longer. */
const PATIENCE = 120

/** Of a call (seconds), if nothing is said: within a lease, two attempts to renew it should be possible. */
const deadlineFor = (lease: number) => Math.max(1, Math.min(5, lease / 3))

/**
 * The store that several daemons share: a schema `callwatch` in a PostgreSQL database. Whatever is committed is on its disk,
 * and on its synchronous standby, before it counts; a commit is kept only by the daemon that owns the target.
 *
 * @throws {StoreError} refused: wrong address, user, password or database, too old a server, or of a newer callwatch;
 * unavailable: it cannot be reached now
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<SharedStore> {
  const { url, lease, clock = systemClock, deadline = deadlineFor(lease), ...receiving } = options
  let address = readAddress(url)
  const open = async () => {
    const connection = await connect(address, { deadline, clock })
    // The next one goes there at once: one that is dead may be known as such only after a deadline.
    const others = address.hosts.filter((host) => host !== connection.host)
    address = { ...address, hosts: [connection.host, ...others] }
    return connection
  }
  const pool = openPool({ open, size: CONNECTIONS, clock })
  const memberPool = openPool({ open, size: 1, clock })
  const members = membership(memberPool, lease)
  const outbox = postgresOutbox(receiving)
  /** The number of each target that was opened: once it was reset, it is another one. */
  const numbers = new Map<string, number>()

  await pool
    .use(async (connection) => {
      await migrate(connection)
      await outbox.clear(connection)
    })
    .catch(async (error: unknown) => {
      await pool.close()
      throw error
    })

  const session: Session = {
    run: (statement, args) => pool.use(({ run }) => run(statement, args)),
    each: (statement, args, take) => pool.use(({ each }) => each(statement, args, take)),
  }
  const allOrNothing = <T>(work: (session: Session) => Promise<T>) =>
    pool.use((connection) => transaction(connection, work))

  async function commit(target: string, whole: Commit): Promise<void> {
    const ownership = members.ownershipOf(target)
    if (ownership === undefined) throw notOwned(target)
    const { outgoing } = whole
    const write = async (writing: Session) => {
      // The statement goes first: it holds the target's row before anything else is touched.
      const [isWritten] = await Promise.all([
        writeCommit(writing, target, whole, ownership),
        ...outgoing.map((addressed) => outbox.putChange(writing, addressed)),
      ])
      if (!isWritten) throw stale(target)
    }
    if (outgoing.length === 0) await pool.use(write)
    else await allOrNothing(write)
  }

  async function closeAlerts(target: string, outgoing: readonly Addressed[]): Promise<void> {
    await allOrNothing(async (closing) => {
      const closed = await closing.run(
        `DELETE FROM callwatch.alerts USING callwatch.targets
        WHERE target = number AND name = $1 RETURNING alert`,
        [target],
      )
      // Of several daemons that find the target gone, one tells of it.
      const keys = new Set(closed.map(({ alert }) => String(alert)))
      for (const addressed of outgoing) if (keys.has(addressed.change.key)) await outbox.putChange(closing, addressed)
    })
  }

  return {
    openTarget: async (identity, created, keepFinished) => {
      const loaded = await pool.use((connection) => loadTarget(connection, identity, created, keepFinished))
      const { number, ledger, alerts } = loaded
      numbers.set(identity.name, number)
      return { ledger, alerts }
    },
    resetTarget: async (name) => {
      // It may have a million calls, and somebody waits for it: a connection of its own, with more patience.
      const connection = await connect(address, { deadline: PATIENCE, clock })
      try {
        await resetTarget(connection, name, members.self())
      } finally {
        await connection.close()
      }
      members.forget(name)
      numbers.delete(name)
    },
    commit,
    outbox: (notifier) => outbox.read(session, notifier),
    claimOutbox: (ids, claimed) => outbox.claim(session, ids, claimed),
    removeFromOutbox: (ids) => outbox.remove(session, ids),
    countOutbox: () => outbox.count(session),
    putOutOnce: (name, content, notifiers) => outbox.putOnce(session, name, content, notifiers),
    strayAlerts: async (targets) => {
      const rows = await session.run(
        `SELECT name, data FROM callwatch.alerts JOIN callwatch.targets ON target = number
        WHERE name <> ALL ($1::text[]) ORDER BY name, alert`,
        [targets],
      )
      const byTarget = Map.groupBy(rows, ({ name }) => String(name))
      return [...byTarget].map(([target, alerts]) => ({
        target,
        alerts: alerts.map(({ data }) => parse<AlertInstance>(data)),
      }))
    },
    closeAlerts,
    ...postgresSilences(session),
    heldUntil: async (key) => {
      const [row] = await session.run('SELECT until FROM callwatch.holds WHERE key = $1', [key])
      return row && Number(row['until'])
    },
    hold: async (key, until) => {
      await session.run(
        `INSERT INTO callwatch.holds (key, until) VALUES ($1, $2)
        ON CONFLICT (key) DO UPDATE SET until = excluded.until`,
        [key, until],
      )
    },
    finishedCalls: (query) => finishedCalls(session, query),
    countFinished: (target, from, to) => countFinished(session, target, from, to),
    trimHistory: (before) => pool.use((connection) => trimHistory(connection, before)),
    close: async () => {
      await Promise.all([pool.close(), memberPool.close()])
    },
    sharing: {
      ...members,
      missed: async (known) => {
        const unknown = [...known.keys()].filter((target) => !numbers.has(target))
        const asked = [...known].flatMap(([target, seq]) => {
          const number = numbers.get(target)
          return number === undefined ? [] : [{ target, number, seq }]
        })
        const missed = await pool.use((connection) => readMissed(connection, asked))
        return [...missed, ...unknown.map((target) => ({ target, commit: undefined }))]
      },
    },
  }
}

function notOwned(target: string): StoreError {
  return new StoreError('stale', `this daemon does not own target ${target}; whoever does commits it`)
}

function stale(target: string): StoreError {
  return new StoreError(
    'stale',
    `the store is not where this daemon left target ${target}: another one owns it or wrote to it`,
  )
}
