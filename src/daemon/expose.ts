import { lastValueFrom, map, race, timer } from 'rxjs'
import type { Config } from '../config/config.ts'
import { webhookViews } from '../events/webhooks/webhook-views.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import type { Targets } from '../pipeline/lifecycle.ts'
import type { ActiveReceivers } from './active-receivers.ts'
import type { DaemonParts } from './parts.ts'

type ExposeOptions = Pick<DaemonParts, 'metrics' | 'clock' | 'droppedLines' | 'failures'> & {
  store: Pick<Store, 'size' | 'webhooks' | 'events' | 'latestEvents'>
  targets: Pick<Targets, 'all' | 'loaded'>
  config: () => Pick<Config, 'events'>
  receivers: Pick<ActiveReceivers, 'names'>
}

/** How long a scrape waits for the store (seconds). */
const READ_TIMEOUT_SECONDS = 0.02

/**
 * Exposes all metrics. While the store cannot be read, gauges about it keep their values. If the store answers too late,
 * because it is far away or has a slow disk, the next scrape has the values.
 */
export function exposer({ metrics, store, clock, targets, config, receivers, failures, droppedLines }: ExposeOptions) {
  const { operational } = metrics

  function readFailures(): void {
    for (const receiver of receivers.names()) {
      const { pending, oldest } = failures.of(receiver) ?? { pending: 0 }
      operational.notificationsPending.set({ receiver }, pending)
      operational.notificationOldestPending.set(
        { receiver },
        oldest === undefined ? 0 : Math.max(0, clock.wall() - oldest),
      )
    }
  }

  async function readWebhooks(): Promise<void> {
    const names = () => config().events.webhooks.map(({ name }) => name)
    if (names().length === 0) return
    const views = await webhookViews(store, clock.wall())
    const webhooks = names()
    for (const view of views) {
      const { name: webhook, state, pending, oldest_pending_seconds: oldest = 0, dead_letters: dead } = view
      if (!webhooks.includes(webhook)) continue
      operational.webhookPending.set({ webhook }, pending)
      operational.webhookOldestPending.set({ webhook }, oldest)
      operational.webhookDeadLetters.set({ webhook }, dead)
      operational.webhookPaused.set({ webhook }, state === 'paused' ? 1 : 0)
    }
  }

  return async (format: 'prometheus' | 'openmetrics') => {
    readFailures()
    const readings = [readWebhooks(), store.size().then((bytes) => operational.storeBytes.set(bytes))]
    const limit$ = timer(READ_TIMEOUT_SECONDS * 1000, clock.scheduler).pipe(map(() => undefined))
    await lastValueFrom(race(Promise.all(readings.map((reading) => reading.catch(onlyStoreErrors(undefined)))), limit$))
    operational.targets.set(targets.all().length)
    operational.targetsOwned.set(targets.loaded().length)
    operational.logLinesDropped.reset()
    operational.logLinesDropped.inc(droppedLines())
    return metrics.expose(format)
  }
}
