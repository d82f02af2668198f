import { lastValueFrom, map, race, timer } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { webhookViews } from '../events/webhooks/webhook-views.ts'
import type { metricsOf } from '../metrics/registry.ts'
import { onlyStoreErrors, type Store } from '../store/store.ts'
import type { Targets } from '../target/lifecycle.ts'

export type ExposeOptions = {
  metrics: ReturnType<typeof metricsOf>
  store: Store
  clock: Clock
  targets: Pick<Targets, 'all' | 'loaded'>
  /** The names of the receivers, and of the webhooks of events. */
  receivers: () => readonly string[]
  webhooks: () => readonly string[]
}

/** A scrape waits so long for the store (seconds). */
const READ_WITHIN = 0.02

/** Exposes all metrics. Gauges of what is in the store keep their values while it cannot be read, or a slow disk keeps it busy. */
export function exposer({ metrics, store, clock, targets, receivers, webhooks }: ExposeOptions) {
  const { operational } = metrics
  const within = <T>(reading: Promise<T>): Promise<T | undefined> =>
    lastValueFrom(
      race(
        reading.catch(onlyStoreErrors(undefined)),
        timer(READ_WITHIN * 1000, clock.scheduler).pipe(map(() => undefined)),
      ),
    )
  return async (format: 'prometheus' | 'openmetrics') => {
    const views = webhooks().length === 0 ? [] : webhookViews(store, clock.wall())
    const [pending, known = [], bytes] = await Promise.all([
      within(store.countOutbox()),
      within(Promise.resolve(views)),
      within(store.size()),
    ])
    if (bytes !== undefined) operational.storeBytes.set(bytes)
    for (const notifier of receivers()) {
      if (pending !== undefined) operational.notificationsPending.set({ notifier }, pending.get(notifier) ?? 0)
    }
    for (const {
      name: webhook,
      state,
      pending: events,
      oldest_pending_seconds: oldest = 0,
      dead_letters: dead,
    } of known) {
      if (!webhooks().includes(webhook)) continue
      operational.webhookPending.set({ webhook }, events)
      operational.webhookOldestPending.set({ webhook }, oldest)
      operational.webhookDeadLetters.set({ webhook }, dead)
      operational.webhookPaused.set({ webhook }, state === 'paused' ? 1 : 0)
    }
    operational.targets.set(targets.all().length)
    operational.targetsOwned.set(targets.loaded().length)
    return metrics.expose(format)
  }
}
