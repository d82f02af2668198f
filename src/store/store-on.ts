import { systemClock, type Clock } from '../clock/clock.ts'
import { commits, type CommitOptions } from './commits.ts'
import { eventLog, type EventsOptions } from './events.ts'
import { history } from './history.ts'
import { outboxOf, type OutboxOptions } from './outbox.ts'
import { retention } from './retention.ts'
import { rollups } from './rollups.ts'
import { silences } from './silences.ts'
import type { Sql, Step } from './sql.ts'
import type { CommandStore, Store } from './store.ts'
import { targetsOf, type TargetsOptions } from './targets.ts'
import { webhooks } from './webhooks.ts'

export type StoreOptions = Pick<CommitOptions, 'fenceOf' | 'alongside' | 'isRefusal' | 'concurrent' | 'isEager'> &
  Pick<OutboxOptions, 'receivers' | 'senderFence'> &
  EventsOptions &
  Omit<TargetsOptions, 'outbox' | 'events'> & {
    clock?: Clock | undefined
    /** More that is deleted with what has expired, in batches. */
    deleteMoreExpired?: readonly Step[]
    /** Where queries of the history run, which may take long. */
    reading: Sql
  }

/** The parts of a daemon's store, on whichever database: each is written once, for both. */
export function storeOn(sql: Sql, options: StoreOptions) {
  const { clock = systemClock, reading, deleteMoreExpired = [] } = options
  const outbox = outboxOf(sql, { ...options, clock })
  const events = eventLog(sql, options)
  const targets = targetsOf(sql, { ...options, outbox, events })
  const store: Store = {
    ...targets.methods,
    ...commits(sql, { ...options, targets, outbox, events }),
    ...outbox.methods,
    ...silences(sql),
    ...history(sql, options.isEager),
    ...events.methods,
    ...webhooks(sql),
    ...rollups(sql),
    ...retention(sql, { targets, clock, more: deleteMoreExpired }),
    size: sql.size,
    rows: reading.all,
    close: async () => void (await Promise.all([sql.close(), reading === sql ? undefined : reading.close()])),
  }
  return { store, outbox, events, targets }
}

/** What a command may do with a store while daemons use it. */
export function commandStoreOn(sql: Sql): CommandStore {
  const { events, latestEvents } = eventLog(sql, { ordering: [], isAlone: false }).methods
  return { ...silences(sql), ...webhooks(sql), events, latestEvents, close: sql.close }
}
