import { systemClock, type Clock } from '../clock/clock.ts'
import type { Cluster } from './cluster.ts'
import { commits } from './commits.ts'
import { eventLog } from './events.ts'
import { history } from './history.ts'
import { notifiedOf } from './notified.ts'
import { retention } from './retention.ts'
import { rollups } from './rollups.ts'
import type { Database } from './sql.ts'
import { silences } from './silences.ts'
import type { CommandStore, Store } from './store.ts'
import { targetsOf } from './targets.ts'
import { webhooks } from './webhooks.ts'

export type StoreOptions = {
  /** All configured receivers. What others were told is forgotten, once, with `notified.clear`; undefined keeps everything. */
  receivers: readonly string[] | undefined
  /** Runs queries of the history, which may take long. */
  reading: Database
  /** Only for a daemon that shares its store. */
  cluster?: Cluster
  clock?: Clock | undefined
}

/** Combines the parts of a daemon's store on either database. */
export function storeOn(sql: Database, { receivers, reading, cluster, clock = systemClock }: StoreOptions) {
  const notified = notifiedOf(sql, { receivers, cluster })
  const events = eventLog(sql, cluster)
  const targets = targetsOf(sql, { cluster, notified, events })
  const store: Store = {
    ...targets.methods,
    ...commits(sql, { cluster, targets, notified, events }),
    ...notified.methods,
    ...silences(sql),
    ...history(sql, cluster === undefined),
    ...events.methods,
    ...webhooks(sql),
    ...rollups(sql),
    ...retention(sql, { cluster, clock }),
    size: sql.size,
    rows: reading.all,
    close: async () => void (await Promise.all([sql.close(), reading === sql ? undefined : reading.close()])),
  }
  return { store, notified, events }
}

export function commandStoreOn(sql: Database): CommandStore {
  const { events, latestEvents } = eventLog(sql).methods
  return { ...silences(sql), ...webhooks(sql), events, latestEvents, close: sql.close }
}
