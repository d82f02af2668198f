import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import {
  AsyncSubject,
  catchError,
  concat,
  defer,
  EMPTY,
  endWith,
  finalize,
  ignoreElements,
  lastValueFrom,
  map,
  merge,
  share,
  takeUntil,
  tap,
  throwError,
  timer,
  type Observable,
} from 'rxjs'
import { expiredNotifications } from '../alerts/evaluate.ts'
import type { Clock } from '../clock/clock.ts'
import { STARTING } from '../cluster/member-status.ts'
import { ALONE, type Ownership } from '../cluster/ownership.ts'
import { sharedOwnership } from '../cluster/shared-ownership.ts'
import type { Config } from '../config/config.ts'
import type { HttpConfig } from '../web/http-section.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { expectTargets } from '../history/usage-report.ts'
import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
import { metricsOf } from '../metrics/registry.ts'
import { isLoopback } from '../network/loopback.ts'
import { recipientsBy } from '../notifications/routes.ts'
import { openStore } from '../store/open-store.ts'
import { storeRetried } from '../store/store-retried.ts'
import { onlyStoreErrors, StoreError } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import { lifecycle, type Targets } from '../pipeline/lifecycle.ts'
import { runWhile } from '../pipeline/run-while.ts'
import type { ReceiversOf } from '../pipeline/target.ts'
import type { Credentials } from '../web/authentication.ts'
import { startWeb } from '../web/server.ts'
import type { ConfigReading } from './config-readings.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { secretsMask, type SecretsMask } from '../log/mask-secrets.ts'
import { sharedSettings } from './shared-settings.ts'
import { storeEvents } from './store-problem.ts'
import { expiryEvents } from '../events/new-events.ts'
import { shownLog } from '../events/shown-log.ts'
import { eventLog } from './event-log.ts'
import { eventWebhooks } from './event-webhooks.ts'
import { exposer } from './expose.ts'
import { changeLog } from './change-log.ts'
import { logNotified } from './log-alerts.ts'
import { logWebEvents } from './log-web-events.ts'
import { activeReceivers } from './active-receivers.ts'
import { reporter } from './reporter.ts'
import { reloads } from './reload.ts'
import { notifying } from './notifying.ts'
import { newOverviews } from './overviews.ts'
import { checkForDamage } from './check-for-damage.ts'
import { newRetention } from './retention.ts'
import { maintainRollups } from './rollups.ts'
import { VERSION } from './version.ts'

export type Daemon = {
  /** Where the page is. */
  url: string
  targets: Targets
  /** Everything that the daemon does while this is subscribed to, once; completes when all is closed after `draining$`. */
  events$: Observable<DaemonEvent>
}

export type DaemonOptions = {
  /** The configuration with which it starts. */
  config: Config
  /** The configuration as it is read again while the daemon runs. */
  readings$?: Observable<ConfigReading>
  /** Learns the secrets of each configuration before it is active. */
  secrets?: SecretsMask
  clock: Clock
  /** From 0 to 1. */
  random: () => number
  log: Logger
  /** How many lines of the log could not be written. */
  droppedLines?: () => number
  /** Emits when the daemon must stop; must replay. */
  draining$: Observable<unknown>
  /** A target whose stored state is removed before it is polled. */
  resetTarget?: string | undefined
}

/** What changes within so many seconds is logged together. */
const LOG_SECONDS = 5
/** The exported windows are counted from the history after a restart (seconds). */
const MAX_WINDOW_SECONDS = Math.max(...Object.values(EXPORTED_WINDOWS))

/**
 * Wires all parts together and opens them: store, targets, metrics, receivers, web. When the configuration changes, only
 * the parts whose settings have changed restart.
 *
 * @throws {StoreError} when the store cannot be used
 * @throws {QueryError} when neither the configuration nor the store has the target to reset
 * @throws {Error} with a `code` when the web address cannot be listened on
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config: first, readings$ = EMPTY, clock, log, droppedLines = () => 0, draining$ } = options
  const { secrets = secretsMask(secretsOf(first)) } = options
  let active = first
  const receivers = await activeReceivers(first, clock, log)
  const receiversOf: ReceiversOf = (change) => recipientsBy(active.notify.routes, receivers.names())(change)
  const store = await openStore(first.store, receivers.names(), (line) => log.info(line))
  // What was committed while it stopped is read also while no daemon runs.
  const number = async () => store.cluster?.numberEvents().catch(onlyStoreErrors(undefined))
  const closing: (() => Promise<void>)[] = [() => store.close(), number]
  const closeAll = async () => {
    for (const close of closing.toReversed()) await close()
  }
  try {
    await store.cluster?.join(DAEMON_NAME, sharedSettings(first), STARTING)
    const shared =
      store.cluster &&
      sharedOwnership({
        cluster: store.cluster,
        clock,
        name: DAEMON_NAME,
        settings: () => sharedSettings(active),
        targets: () => active.targets.map(({ name }) => name),
        draining$,
      })
    const ownership: Ownership = shared ?? ALONE
    if (shared !== undefined) closing.push(shared.leave)
    await expireStrayAlerts(store, receiversOf, options)
    const targets = lifecycle({ ...options, store, receiversOf, ownership, mask: secrets.mask, draining$ })
    closing.push(targets.close)
    await targets.open(first)

    const overviews = newOverviews({ cluster: store.cluster, clock, targets, ownership })
    let hasFailed = false
    const retention = newRetention({
      store,
      clock,
      ownership,
      lastSuccesses: () => [
        ...targets.loaded().map(({ ledger }) => ledger.sync.lastSuccess),
        ...overviews.others().map(({ lastSuccess }) => lastSuccess),
      ],
      onProblem: (error) => {
        // Once, until it succeeds: what keeps it from that is logged as a problem of the store.
        if (error !== undefined)
          log[hasFailed ? 'debug' : 'warn'](
            `expired rows were not deleted from the store (retried each minute): ${secrets.mask(String(error))}`,
          )
        hasFailed = error !== undefined
      },
    })
    const metrics = metricsOf(targets.loaded, VERSION)
    const webhooks = () => active.events.webhooks.map(({ name }) => name)
    const expose = exposer({ metrics, store, clock, targets, receivers: receivers.shown, webhooks, droppedLines })
    const web = await startWeb({
      ...first.http,
      ...(first.http.auth && { auth: credentialsOf(() => active) }),
      publicUrl: () => active.http.publicUrl,
      version: VERSION,
      targets: { all: targets.all, own: targets.loaded, loading: targets.loading, others: overviews.others },
      known: () => ({ alert: active.alerts.map(({ name }) => name), target: targets.all() }),
      store: { ...store, ...shownLog(store, () => active.events.participants) },
      problem: ownership.problem,
      expose,
      wall: clock.wall,
      onEvent: logWebEvents(log, metrics.operational),
    })
    closing.push(web.close)
    if (first.http.auth === undefined && !isLoopback(first.http.host)) {
      log.warn(
        `the page and the API are open to other hosts without a password (http.host ${first.http.host}): set http.auth, ` +
          'or set http.host to 127.0.0.1, or publish the port of a container on 127.0.0.1 only',
      )
    }

    const report = reporter({
      log,
      metrics: metrics.operational,
      clock,
      targets,
      receivers: receivers.shown,
      webhooks,
      mask: secrets.mask,
    })

    const whenAvailable = (work: () => Promise<void>): Promise<void> =>
      lastValueFrom(defer(work).pipe(storeRetried(clock, ['refused', 'stale']), takeUntil(draining$)), {
        defaultValue: undefined,
      })
    const { config$, reloads$ } = reloads({
      first,
      readings$: readings$.pipe(takeUntil(draining$)),
      prepare: async (next) => {
        secrets.learn(secretsOf(next))
        const { cluster } = store
        if (cluster === undefined) await targets.open(next)
        else {
          // All daemons on the store have read the same: a daemon that cannot use the store now retries until it can.
          await whenAvailable(async () => {
            await targets.open(next)
            const settings = sharedSettings(next)
            if (!isDeepStrictEqual(settings, sharedSettings(active))) await cluster.declare(settings)
          })
        }
        const { names, activate } = await receivers.prepare(next)
        if (!isDeepStrictEqual(names, receivers.names())) await whenAvailable(() => store.setReceivers(names))
        log.level = next.log.level
        activate()
        if (next.http.tls !== undefined) web.renew(next.http.tls)
        active = next
      },
    })
    const reloaded$ = reloads$.pipe(map((reload): DaemonEvent => ({ kind: 'reload', reload })))
    // The lease is kept for as long as anything is asked or sent.
    const [polled, sent] = [new AsyncSubject<void>(), new AsyncSubject<void>()]
    const aborted$ = concat(polled, sent).pipe(endWith(undefined))
    const ownershipEvents$ = shared === undefined ? EMPTY : shared.run(aborted$)
    const targetEvents$ = merge(
      ownershipEvents$.pipe(map((event): DaemonEvent => ({ kind: 'ownership', event }))),
      targets.replicatePauses(aborted$),
      targets.run(config$).pipe(finalize(() => polled.complete())),
    ).pipe(share())
    const overviewEvents$ = overviews.exchange(merge(targetEvents$, reloaded$), aborted$)
    const notifying$ = notifying({
      config$,
      clock,
      store,
      receivers: receivers.receivers,
      targets,
      overviews,
      ownership,
      targetEvents$,
      draining$,
    })
    const webhooks$ = eventWebhooks({ ...options, config$, store, ownership, retentionNow: retention.now }).pipe(
      map((event): DaemonEvent => ({ kind: 'webhook', event })),
    )
    const notified$ = merge(notifying$, webhooks$).pipe(finalize(() => sent.complete()))
    const retention$ = runWhile(config$.pipe(map(({ store: { history } }) => history)), (history, settingsDraining$) =>
      retention.run(Math.max(history, MAX_WINDOW_SECONDS), merge(settingsDraining$, draining$)),
    )
    const eventLogSettings$ = config$.pipe(
      map(({ events: { retention, participants } }) => ({ retention, participants })),
    )
    const events$ = runWhile(eventLogSettings$, (settings, settingsDraining$) =>
      eventLog({
        ...settings,
        store,
        clock,
        ownership,
        retentionNow: retention.now,
        draining$: merge(settingsDraining$, draining$),
      }),
    )
    const time$ = timer(LOG_SECONDS * 1000, LOG_SECONDS * 1000, clock.scheduler).pipe(
      takeUntil(draining$),
      map((): DaemonEvent => ({ kind: 'time' })),
    )
    const rollups$ = maintainRollups({ store, clock, log, ownership, draining$ })
    const damage$ = checkForDamage({ store, clock, log, draining$ })
    const closeAll$ = defer(closeAll).pipe(ignoreElements())
    return {
      url: pageUrl(first.http, web.port),
      targets,
      events$: concat(
        merge(
          overviewEvents$,
          reloaded$,
          retention$,
          rollups$,
          damage$,
          events$,
          notified$,
          storeEvents(targetEvents$),
          targetEvents$,
          time$,
        ).pipe(endWith({ kind: 'stopped' } as const), tap(report)),
        closeAll$,
      ).pipe(
        // A store that is refused ends the daemon, and nothing may keep the process. A bug ends the process as it is.
        catchError((error: unknown) =>
          concat(
            error instanceof StoreError ? closeAll$ : EMPTY,
            throwError(() => error),
          ),
        ),
      ),
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/**
 * Removes what is stored of a target that must be reset. Closes its alerts, and those of targets that were removed from the
 * configuration, and notifies their recipients; the open calls of the latter are lost from now on.
 */
async function expireStrayAlerts(
  store: Store,
  receiversOf: ReceiversOf,
  { config, resetTarget, clock, log }: DaemonOptions,
): Promise<void> {
  const configured = config.targets.map(({ name }) => name)
  if (resetTarget !== undefined) await expectTargets(store, [resetTarget], configured)
  const kept = configured.filter((name) => name !== resetTarget)
  const logged = changeLog(log)
  const stray = new Map((await store.strayTargets(kept)).map(({ target, alerts }) => [target, alerts]))
  const expired = (target: string, because: 'target reset' | 'target removed') => {
    const now = clock.wall()
    const notifications = expiredNotifications(target, stray.get(target) ?? [], because, now)
    logNotified(logged, notifications)
    const routedChanges = notifications.map((change) => ({ change, receivers: receiversOf(change) }))
    return [target, routedChanges, expiryEvents(target, notifications, now)] as const
  }
  if (resetTarget !== undefined) await store.resetTarget(...expired(resetTarget, 'target reset'))
  for (const target of stray.keys()) {
    if (target !== resetTarget) await store.expireAlerts(...expired(target, 'target removed'), clock.wall())
  }
  logged.flush()
}

/** The name of this daemon on the page of others: in containers hosts differ, on one machine processes do. */
const DAEMON_NAME = `${hostname()}, process ${process.pid}`

/** User and password as they are at the moment; whether there are any does not change while the daemon runs. */
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

/** Where a browser on this machine finds the page. */
function pageUrl({ host, tls }: HttpConfig, port: number): string {
  const scheme = tls === undefined ? 'http' : 'https'
  if (host === '0.0.0.0' || host === '::') return `${scheme}://localhost:${port}/`
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/`
}
