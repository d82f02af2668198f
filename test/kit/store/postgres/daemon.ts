import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { applyDelta } from '../../../../src/ledger/state.ts'
import { connect, type Connection } from '../../../../src/store/postgres/connection.ts'
import { openPostgresStore, type PostgresStoreOptions } from '../../../../src/store/open-postgres.ts'
import { migrate } from '../../../../src/store/postgres/schema.ts'
import type { Settings } from '../../../../src/store/settings.ts'
import type { StoreWithCluster } from '../../../../src/store/cluster-store.ts'
import type { Commit, Store } from '../../../../src/store/store.ts'
import { completePoll, seen } from '../../ledger/seen.ts'
import { A, commitOf, DAY, openIn, type NewPlace, type OpenTarget } from '../place.ts'
import { readCallHistory } from '../read-call-history.ts'
import { openReader } from '../../../../src/store/open-store.ts'

type Options = Partial<PostgresStoreOptions> & { settings?: Settings; note?: string }

/** A shared store, closed after the test. */
export async function openShared(url: string, options: Partial<PostgresStoreOptions> = {}): Promise<StoreWithCluster> {
  // What a daemon does without an answer has tests of its own: a busy machine is none of the others' concern.
  const store = await openPostgresStore({ url, lease: 60, deadline: 60, ...options })
  onTestFinished(() => store.close().catch(() => undefined))
  return store
}

/** The same, of a daemon that is a member. */
export async function joined(url: string, name: string, options: Options = {}): Promise<StoreWithCluster> {
  const { settings = {}, note = '{}', ...others } = options
  const store = await openShared(url, others)
  await store.cluster.join(name, note, settings)
  return store
}

/** As if a member had not renewed its lease for long. */
export async function endLease(url: string, name: string): Promise<void> {
  const connection = await connect(url)
  await connection.run("UPDATE callwatch.members SET ends = '-infinity' WHERE name = $1", [name])
  await connection.close()
}

/** A target as a daemon has it in memory. */
export type Replica = OpenTarget & {
  store: StoreWithCluster
  /** A commit that follows: a poll that sees a call. */
  next: (call: string, status?: 'ongoing' | 'ended') => Commit
  /** Commits, and moves on. */
  commit: (commit: Commit) => Promise<void>
  /** Commits a poll that sees a call. */
  sees: (call: string) => Promise<void>
}

export async function replicaOf(store: StoreWithCluster, identity = A): Promise<Replica> {
  const target = await openIn(store, identity)
  const { ledger, deltaOf } = target
  const next: Replica['next'] = (call, status = 'ongoing') =>
    commitOf(deltaOf(completePoll(ledger.sync.seq + 1, seen(call, status))))
  const commit: Replica['commit'] = async (whole) => {
    await store.commit(identity.name, whole)
    applyDelta(ledger, whole.ledger, DAY)
  }
  return { ...target, store, next, commit, sees: (call) => commit(next(call)) }
}

/** A member that owns a target. */
export async function owner(url: string, name = 'one', options: Options = {}, identity = A): Promise<Replica> {
  const replica = await replicaOf(await joined(url, name, options), identity)
  await replica.store.cluster.acquire([identity.name], 1)
  return replica
}

/** A store whose daemon owns each target that it opens, until it is closed. */
export async function owningStore(url: string, options: Options = {}): Promise<Store> {
  const store = await joined(url, randomUUID(), options)
  return {
    ...store,
    openTarget: async (identity, ...more) => {
      const opened = await store.openTarget(identity, ...more)
      await store.cluster.acquire([identity.name], 1)
      return opened
    },
    commit: async (target, whole) => {
      await store.commit(target, whole)
      await store.cluster.numberEvents()
    },
    close: async () => {
      await store.cluster.leave()
      await store.close()
    },
  }
}

/** One database for test after test, each time without a row: that takes a tenth of the time of a new one. */
export function emptied(newDatabase: () => Promise<string>): () => Promise<string> {
  let prepared: Promise<[string, Connection]> | undefined
  return async () => {
    const [url, connection] = await (prepared ??= newDatabase().then(async (made) => [made, await connect(made)]))
    // A test that failed may have left a transaction open.
    await connection.run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    )
    await migrate(connection)
    const ours = "schemaname = 'callwatch' AND tablename <> 'schema_version'"
    const tables = await connection.run(`SELECT tablename FROM pg_tables WHERE ${ours}`)
    await connection.run(tables.map(({ tablename }) => `DELETE FROM callwatch.${String(tablename)}`).join(';'))
    return url
  }
}

/** Places for the contract. */
export function placesIn(newDatabase: () => Promise<string>): NewPlace {
  return async () => {
    const url = await newDatabase()
    return {
      open: (receivers) => owningStore(url, { receivers }),
      reader: () => openReader({ url }),
      callHistory: () => readCallHistory({ url }),
    }
  }
}
