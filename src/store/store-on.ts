import { systemClock, type Clock } from '../clock/clock.ts'
import type { Cluster } from './cluster.ts'
import { commits } from './commits.ts'
import { eventLog } from './events.ts'
import { history } from './history.ts'
import { outboxOf } from './outbox.ts'
import { retention } from './retention.ts'
import { rollups } from './rollups.ts'
import { silences } from './silences.ts'
import type { Sql } from './sql.ts'
import type { CommandStore, Store } from './store.ts'
import { targetsOf } from './targets.ts'
import { webhooks } from './webhooks.ts'

export type StoreOptions = {
  /** All configured receivers: what waits for any other is removed, once with `outbox.clear`; undefined keeps all. */
  receivers: readonly string[] | undefined
  /** Where queries of the history run, which may take long. */
  reading: Sql
  /** Of a daemon that shares its store with others. */
  cluster?: Cluster
  clock?: Clock | undefined
}

/** The parts of a daemon's store, on whichever database: each is written once, for both. */
export function storeOn(sql: Sql, { receivers, reading, cluster, clock = systemClock }: StoreOptions) {
  const outbox = outboxOf(sql, { receivers, cluster, clock })
  const events = eventLog(sql, cluster)
  const targets = targetsOf(sql, { cluster, outbox, events })
  const store: Store = {
    ...targets.methods,
    ...commits(sql, { cluster, targets, outbox, events }),
    ...outbox.methods,
    ...silences(sql),
    ...history(sql, cluster === undefined),
    ...events.methods,
    ...webhooks(sql),
    ...rollups(sql),
    ...retention(sql, { cluster, targets, clock }),
    size: sql.size,
    rows: reading.all,
    close: async () => void (await Promise.all([sql.close(), reading === sql ? undefined : reading.close()])),
  }
  return { store, outbox, events, targets }
}

/** What a command may do with a store while daemons use it. */
export function commandStoreOn(sql: Sql): CommandStore {
  const { events, latestEvents } = eventLog(sql).methods
  return { ...silences(sql), ...webhooks(sql), events, latestEvents, close: sql.close }
}
