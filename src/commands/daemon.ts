import type { Logger } from 'pino'
import {
  concat,
  defer,
  exhaustMap,
  ignoreElements,
  map,
  merge,
  share,
  take,
  takeUntil,
  tap,
  timer,
  type Observable,
  type Subscription,
} from 'rxjs'
import { closedNotifications } from '../alerts/evaluate.ts'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
import { introduceNotifier, introduceTarget } from '../metrics/record.ts'
import { metricsOf } from '../metrics/registry.ts'
import { routed } from '../notify/routes.ts'
import type { RateBudget } from '../polling/rate-budget.ts'
import { openSqliteStore } from '../store/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { eventFeed } from '../web/event-feed.ts'
import { startWeb } from '../web/server.ts'
import type { WatchedTarget } from '../web/views.ts'
import { maskSecrets } from './mask-secrets.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { notifiersOf } from './notifiers.ts'
import { reporter } from './reporter.ts'
import { telling } from './telling.ts'
import { VERSION } from './version.ts'
import { watch } from './watch.ts'

export type Daemon = {
  /** Where the page is. */
  url: string
  targets: readonly WatchedTarget[]
  /** Everything that the daemon does, while it is subscribed to, once; completes when all is closed after `stop$`. */
  events$: Observable<DaemonEvent>
}

export type DaemonOptions = {
  config: Config
  clock: Clock
  /** From 0 to 1. */
  random: () => number
  log: Logger
  /** Emits when the daemon is to stop; must replay to whoever asks later. */
  stop$: Observable<unknown>
  /** A target whose stored state is removed before it is watched. */
  resetTarget?: string | undefined
}

/** How long a running cycle may still go on after the daemon was asked to stop (seconds). */
const GRACE = 8
const HOUSEKEEPING_INTERVAL = 60
/** The exported windows are counted from the history after a restart (seconds). */
const LONGEST_WINDOW = Math.max(...Object.values(EXPORTED_WINDOWS))

/**
 * Wires all parts together and opens them: store, targets, metrics, notifiers, web.
 *
 * @throws {StoreError} when the store cannot be used
 * @throws {Error} with a `code` when the web address cannot be listened on
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config, clock, log, stop$ } = options
  const notifiers = notifiersOf(config, clock, log)
  const names = notifiers.map(({ name }) => name)
  const store = openSqliteStore({
    path: config.store.path,
    notifiers: names,
    notifiersFor: routed(config.notify.routes, names),
  })
  const closing: (() => Promise<void>)[] = [() => store.close()]
  const closeAll = async () => {
    for (const close of closing.toReversed()) await close()
  }
  try {
    await closeStrayAlerts(store, options)
    if (options.resetTarget !== undefined) await store.resetTarget(options.resetTarget)
    const abandon = new AbortController()
    const budgets = new Map<string, RateBudget>()
    const watches: Awaited<ReturnType<typeof watch>>[] = []
    for (const [i, target] of config.targets.entries()) {
      const offset = (i / config.targets.length) * config.poll.interval
      const watched = await watch({ ...options, target, offset, store, budgets, abandon: abandon.signal })
      closing.push(watched.close)
      watches.push(watched)
    }
    const targets = watches.map(({ watched }) => watched)

    const metrics = metricsOf(() => targets, VERSION)
    for (const { target } of targets) introduceTarget(metrics.operational, target)
    const told = [...names, ...(config.notify.alertmanager === undefined ? [] : ['alertmanager'])]
    for (const name of told) introduceNotifier(metrics.operational, name)
    const feed = eventFeed()
    const expose = async (format: 'prometheus' | 'openmetrics') => {
      const pending = await store.countOutbox().catch(() => new Map<string, number>())
      for (const name of told) metrics.operational.notificationsPending.set({ notifier: name }, pending.get(name) ?? 0)
      return metrics.expose(format)
    }
    const web = await startWeb({ ...config.http, version: VERSION, targets, store, feed, expose, wall: clock.wall })
    closing.push(web.close)

    const mask = maskSecrets(secretsOf(config))
    const report = reporter({ log, metrics: metrics.operational, feed, targets, mask })
    const watched$ = merge(
      ...watches.map(({ watched: { target }, events$ }) =>
        events$.pipe(map((event): DaemonEvent => ({ kind: 'watch', target, event }))),
      ),
    ).pipe(share())
    const url = pageUrl(config.http.host, web.port)
    const told$ = telling({ config, clock, store, notifiers, targets, watched$, stop$ })
    const housekeeping$ = timer(0, HOUSEKEEPING_INTERVAL * 1000, clock.scheduler).pipe(
      takeUntil(stop$),
      // What cannot be trimmed now is trimmed a minute later.
      exhaustMap(() =>
        store.trimHistory(clock.wall() - Math.max(config.store.history, LONGEST_WINDOW)).catch(() => undefined),
      ),
      ignoreElements(),
    )
    let patience: Subscription | undefined
    const grace$ = stop$.pipe(
      take(1),
      tap(() => (patience = clock.scheduler.schedule(() => abandon.abort(), GRACE * 1000))),
      ignoreElements(),
    )
    const closed$ = defer(async () => {
      patience?.unsubscribe()
      await closeAll()
    }).pipe(ignoreElements())
    return {
      url,
      targets,
      events$: concat(merge(grace$, housekeeping$, told$, watched$).pipe(tap(report)), closed$),
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** Alerts of targets that are watched no more, or from nothing, are closed, and who was told of them is told so. */
async function closeStrayAlerts(store: Store, { config, resetTarget, clock }: DaemonOptions): Promise<void> {
  const kept = config.targets.map(({ name }) => name).filter((name) => name !== resetTarget)
  for (const { target, alerts } of await store.strayAlerts(kept)) {
    const because = target === resetTarget ? 'target reset' : 'target removed'
    await store.closeAlerts(target, closedNotifications(target, alerts, because, clock.wall()))
  }
}

/** Where a browser on this machine finds the page. */
function pageUrl(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}/`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/`
}
