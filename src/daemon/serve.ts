import { lastValueFrom, map, race, timer } from 'rxjs'
import type { Config } from '../config/config.ts'
import type { Clock } from '../clock/clock.ts'
import { webhookViews } from '../events/webhooks/webhook-views.ts'
import type { Metrics } from '../metrics/registry.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import type { Targets } from '../pipeline/lifecycle.ts'
import type { ActiveReceivers } from './active-receivers.ts'
import { shownLog } from '../events/events-section.ts'
import { isLoopback } from '../network/loopback.ts'
import type { Credentials } from '../web/authentication.ts'
import type { HttpConfig } from '../web/http-section.ts'
import { startWeb, type Web } from '../web/server.ts'
import { logWebEvents } from './reporting/log-web-events.ts'
import type { Common } from './open-parts.ts'
import { VERSION } from './version.ts'

type ExposeOptions = {
  metrics: Metrics
  store: Pick<Store, 'waiting' | 'size' | 'webhooks' | 'events' | 'latestEvents'>
  clock: Clock
  targets: Pick<Targets, 'all' | 'loaded'>
  config: () => Pick<Config, 'events'>
  receivers: Pick<ActiveReceivers, 'all'>
  /** How many lines of the log could not be written. */
  droppedLines: () => number
}

/** How long a scrape waits for the store (seconds). */
const READ_TIMEOUT_SECONDS = 0.02

/**
 * Exposes all metrics. While the store cannot be read, gauges about it keep their values. If the store answers too late,
 * because it is far away or has a slow disk, the next scrape has the values.
 */
export function exposer({ metrics, store, clock, targets, config, receivers, droppedLines }: ExposeOptions) {
  const { operational } = metrics

  async function readOutbox(): Promise<void> {
    const waiting = await store.waiting()
    for (const { name: receiver } of receivers.all()) {
      const { pending, since } = waiting.get(receiver) ?? { pending: 0 }
      operational.notificationsPending.set({ receiver }, pending)
      operational.notificationOldestPending.set(
        { receiver },
        since === undefined ? 0 : Math.max(0, clock.wall() - since),
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
    const readings = [readOutbox(), readWebhooks(), store.size().then((bytes) => operational.storeBytes.set(bytes))]
    const late$ = timer(READ_TIMEOUT_SECONDS * 1000, clock.scheduler).pipe(map(() => undefined))
    await lastValueFrom(race(Promise.all(readings.map((reading) => reading.catch(onlyStoreErrors(undefined)))), late$))
    operational.targets.set(targets.all().length)
    operational.targetsOwned.set(targets.loaded().length)
    operational.logLinesDropped.reset()
    operational.logLinesDropped.inc(droppedLines())
    return metrics.expose(format)
  }
}

/**
 * Serves the page, the API and the metrics.
 *
 * @returns the server, and the address at which a browser on this machine finds the page
 * @throws {Error} with a `code` if the server cannot listen on its address
 */
export async function serve(options: Common): Promise<Web & { url: string }> {
  const { config, store, clock, log, targets, overviews, ownership, metrics, receivers, failures, hints } = options
  const { http } = config()
  const web = await startWeb({
    ...http,
    ...(http.auth && { auth: credentialsOf(config) }),
    publicUrl: () => config().http.publicUrl,
    version: VERSION,
    targets: { all: targets.all, own: targets.loaded, loading: targets.loading, others: overviews.others },
    known: () => ({ alert: config().alerts.map(({ name }) => name), target: targets.all() }),
    receivers: () => receivers.all().map(({ name }) => ({ name, failure: failures.of(name) })),
    store: { ...store, ...shownLog(store, () => config().events.participants) },
    problem: ownership.problem,
    expose: exposer(options),
    wall: clock.wall,
    onEvent: logWebEvents(log, metrics.operational),
    hookOf: (name) => {
      const target = config().targets.find((one) => one.name === name)
      return target?.webhook && { credentials: target.webhook, appId: target.appId }
    },
    onHook: ({ target, trigger, outcome, hint }) => {
      metrics.operational.serviceWebhooks.inc({ target, trigger, outcome })
      if (hint !== undefined) hints.take({ target, hint })
    },
  })
  if (http.auth === undefined && !isLoopback(http.host)) {
    log.warn(
      `the page and the API are open to other hosts without a password (http.host ${http.host}): set http.auth, ` +
        'or set http.host to 127.0.0.1, or publish the port of a container on 127.0.0.1 only',
    )
  }
  return { ...web, url: pageUrl(http, web.port) }
}

/** The current user and password. Whether there are any does not change while the daemon runs. */
function credentialsOf(config: () => Config): Credentials {
  const auth = () => config().http.auth ?? { username: '', password: '' }
  return {
    get username() {
      return auth().username
    },
    get password() {
      return auth().password
    },
  }
}

function pageUrl({ host, tls }: HttpConfig, port: number): string {
  const scheme = tls === undefined ? 'http' : 'https'
  if (host === '0.0.0.0' || host === '::') return `${scheme}://localhost:${port}/`
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/`
}
