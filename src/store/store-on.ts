import { systemClock, type Clock } from '../clock/clock.ts'
import type { Cluster } from './cluster.ts'
import { commits } from './commits.ts'
import { eventLog } from './events.ts'
import { history } from './history.ts'
import { outboxOf } from './outbox.ts'
import { retention } from './retention.ts'
import { rollups } from './rollups.ts'
import type { RowReader } from './row-reader.ts'
import { silences } from './silences.ts'
import type { Sql } from './sql.ts'
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
  const store = {
    ...targets.methods,
    ...commits(sql, { cluster, targets, outbox, events }),
    ...outbox.methods,
    ...silences(sql),
    ...history(sql, cluster === undefined),
    ...events.methods,
    ...webhooks(sql),
    ...rollups(sql),
    ...retention(sql, { cluster, clock }),
    /** How large the store is, without copies and logs of the database (bytes). */
    size: sql.size,
    rows: reading.all satisfies RowReader['rows'],
    close: async (): Promise<void> =>
      void (await Promise.all([sql.close(), reading === sql ? undefined : reading.close()])),
  }
  return { store, outbox, events }
}

export function commandStoreOn(sql: Sql) {
  const { events, latestEvents } = eventLog(sql).methods
  return { ...silences(sql), ...webhooks(sql), events, latestEvents, close: sql.close }
}
