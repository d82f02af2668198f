import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import {
  concat,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  finalize,
  ignoreElements,
  lastValueFrom,
  map,
  merge,
  ReplaySubject,
  share,
  takeUntil,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import { closedNotifications } from '../alerts/evaluate.ts'
import type { Clock } from '../clock/clock.ts'
import { LOADING } from '../cluster/note.ts'
import { ALONE, type Ownership } from '../cluster/ownership.ts'
import { sharedOwnership } from '../cluster/shared-ownership.ts'
import type { Config, HttpConfig } from '../config/config.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
import { metricsOf } from '../metrics/registry.ts'
import { isLoopback } from '../network/loopback.ts'
import { routed } from '../notify/routes.ts'
import { openStore } from '../store/open-store.ts'
import type { Route } from '../store/keep-target.ts'
import { onlyStoreErrors } from '../store/only-store-errors.ts'
import { StoreError, type Store } from '../store/store.ts'
import type { Credentials } from '../web/authentication.ts'
import { eventFeed } from '../web/event-feed.ts'
import { healthNote } from '../web/target-health.ts'
import { startWeb } from '../web/server.ts'
import type { WatchedTarget } from '../web/views.ts'
import type { Reading } from './config-readings.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { following } from './following.ts'
import { secretsMask, type SecretsMask } from './mask-secrets.ts'
import { sharedSettings } from './shared-settings.ts'
import { storeRetried } from './store-retried.ts'
import { webNotes } from './note-web.ts'
import { toldBy } from './notifiers.ts'
import { reporter } from './reporter.ts'
import { takeOver } from './take-over.ts'
import { telling } from './telling.ts'
import { VERSION } from './version.ts'
import { watchedTargets } from './watched-targets.ts'

export type Daemon = {
  /** Where the page is. */
  url: string
  /** Those of the moment; changed in place when the configuration does. */
  targets: readonly WatchedTarget[]
  /** Everything that the daemon does, while it is subscribed to, once; completes when all is closed after `stop$`. */
  events$: Observable<DaemonEvent>
}

export type DaemonOptions = {
  /** That with which it starts. */
  config: Config
  /** The configuration as it is read anew while the daemon runs. */
  readings$?: Observable<Reading>
  /** Learns the secrets of each configuration before it is in force. */
  secrets?: SecretsMask
  clock: Clock
  /** From 0 to 1. */
  random: () => number
  log: Logger
  /** Emits when the daemon is to stop; must replay to whoever asks later. */
  stop$: Observable<unknown>
  /** A target whose stored state is removed before it is watched. */
  resetTarget?: string | undefined
}

const HOUSEKEEPING_INTERVAL = 60
/** The exported windows are counted from the history after a restart (seconds). */
const LONGEST_WINDOW = Math.max(...Object.values(EXPORTED_WINDOWS))

/**
 * Wires all parts together and opens them: store, targets, metrics, notifiers, web. What a part goes by is followed as
 * the configuration changes; a part of which nothing has changed is left in peace.
 *
 * @throws {StoreError} when the store cannot be used
 * @throws {Error} with a `code` when the web address cannot be listened on
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config: first, readings$ = EMPTY, clock, log, stop$ } = options
  const { secrets = secretsMask(secretsOf(first)) } = options
  let inForce = first
  const told = toldBy(first, clock, log)
  const route: Route = (change) => routed(inForce.notify.routes, told.names)(change)
  const store = await openStore(first.store, told.names)
  const closing: (() => Promise<void>)[] = [() => store.close()]
  const closeAll = async () => {
    for (const close of closing.toReversed()) await close()
  }
  try {
    await store.sharing?.join(DAEMON_NAME, sharedSettings(first), LOADING)
    const shared =
      store.sharing &&
      sharedOwnership({
        sharing: store.sharing,
        clock,
        name: DAEMON_NAME,
        settings: () => sharedSettings(inForce),
        targets: () => inForce.targets.map(({ name }) => name),
        notesOf: (own) =>
          new Map(
            targets.flatMap(({ target, health }) => (own.has(target) ? [[target, healthNote(health)] as const] : [])),
          ),
        stop$,
      })
    const ownership: Ownership = shared ?? ALONE
    if (shared !== undefined) closing.push(shared.leave)
    await tidyUp(store, route, options)
    const watched = watchedTargets({ ...options, store, route, ownership, budgets: new Map() })
    closing.push(watched.close)
    await watched.open(first)
    const { targets } = watched

    const ownTargets = () => targets.filter(({ target, isOwn }) => isOwn() && watched.isCaughtUp(target))
    const metrics = metricsOf(ownTargets, VERSION)
    const feed = eventFeed()
    const expose = async (format: 'prometheus' | 'openmetrics') => {
      // While the store cannot be read it stays what it was.
      const pending = await store.countOutbox().catch(onlyStoreErrors(undefined))
      for (const notifier of told.shown()) {
        if (pending !== undefined)
          metrics.operational.notificationsPending.set({ notifier }, pending.get(notifier) ?? 0)
      }
      metrics.operational.targets.set(targets.length)
      metrics.operational.targetsOwned.set(ownTargets().length)
      return metrics.expose(format)
    }
    const web = await startWeb({
      ...first.http,
      ...(first.http.auth && { auth: credentialsOf(() => inForce) }),
      version: VERSION,
      targets,
      store,
      feed,
      problem: ownership.problem,
      expose,
      wall: clock.wall,
      note: webNotes(log, metrics.operational),
    })
    closing.push(web.close)
    if (first.http.auth === undefined && !isLoopback(first.http.host)) {
      log.warn(
        `the page and the API are open to other hosts without a password (http.host ${first.http.host}): set http.auth, ` +
          'or set http.host to 127.0.0.1',
      )
    }

    const report = reporter({
      log,
      metrics: metrics.operational,
      feed,
      targets,
      notifiers: told.shown,
      mask: secrets.mask,
    })

    const whenAvailable = (work: () => Promise<void>): Promise<void> =>
      lastValueFrom(defer(work).pipe(storeRetried(clock, ['refused', 'stale']), takeUntil(stop$)), {
        defaultValue: undefined,
      })
    const { config$, reloads$ } = takeOver({
      first,
      readings$: readings$.pipe(takeUntil(stop$)),
      prepare: async (next) => {
        secrets.learn(secretsOf(next))
        const { sharing } = store
        if (sharing === undefined) await watched.open(next)
        else {
          // All that share the store have read the same. Who cannot use it now takes that over as soon as it can.
          await whenAvailable(async () => {
            await watched.open(next)
            const settings = sharedSettings(next)
            if (!isDeepStrictEqual(settings, sharedSettings(inForce))) await sharing.declare(settings)
          })
        }
        log.level = next.log.level
        told.follow(next)
        if (next.http.tls !== undefined) web.renew(next.http.tls)
        inForce = next
      },
    })
    const reloaded$ = reloads$.pipe(map((reload): DaemonEvent => ({ kind: 'reload', reload })))
    // The lease is kept for as long as anything is asked or told.
    const over = new ReplaySubject<void>(1)
    let underWay = 2
    const done = () => {
      underWay -= 1
      if (underWay === 0) over.next()
    }
    const kept$ = shared === undefined ? EMPTY : shared.keep$.pipe(takeUntil(over))
    const watched$ = merge(
      kept$.pipe(map((event): DaemonEvent => ({ kind: 'ownership', event }))),
      watched.followOthers(over),
      watched.follow(config$).pipe(finalize(done)),
    ).pipe(share())
    const telling$ = telling({ config$, clock, store, notifiers: told.notifiers, targets, ownership, watched$, stop$ })
    const told$ = telling$.pipe(finalize(done))
    const housekeeping$ = following(config$.pipe(map(({ store: { history } }) => history)), (history, over$) =>
      timer(0, HOUSEKEEPING_INTERVAL * 1000, clock.scheduler).pipe(
        takeUntil(merge(over$, stop$)),
        // What cannot be trimmed now is trimmed a minute later.
        filter(ownership.leads),
        exhaustMap(() =>
          store.trimHistory(clock.wall() - Math.max(history, LONGEST_WINDOW)).catch((error: unknown) => {
            if (!(error instanceof StoreError)) throw error
            log.warn(
              `what is too old was not removed from the store, and is tried again: ${secrets.mask(String(error))}`,
            )
          }),
        ),
        ignoreElements(),
      ),
    )
    const closed$ = defer(closeAll).pipe(ignoreElements())
    return {
      url: pageUrl(first.http, web.port),
      targets,
      events$: concat(merge(reloaded$, housekeeping$, told$, watched$).pipe(tap(report)), closed$),
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/**
 * Removes what is kept of a target that is to be reset. Its alerts, and those of targets that are watched no more, are
 * closed, and who was told of them is told so.
 */
async function tidyUp(store: Store, route: Route, { config, resetTarget, clock }: DaemonOptions): Promise<void> {
  const kept = config.targets.map(({ name }) => name).filter((name) => name !== resetTarget)
  const stray = new Map((await store.strayAlerts(kept)).map(({ target, alerts }) => [target, alerts]))
  const closing = (target: string, because: 'target reset' | 'target removed') =>
    closedNotifications(target, stray.get(target) ?? [], because, clock.wall()).map((change) => ({
      change,
      to: route(change),
    }))
  if (resetTarget !== undefined) await store.resetTarget(resetTarget, closing(resetTarget, 'target reset'))
  for (const target of stray.keys()) {
    if (target !== resetTarget) await store.closeAlerts(target, closing(target, 'target removed'))
  }
}

/** How the other daemons that share its store show this one: in containers hosts differ, on one machine processes do. */
const DAEMON_NAME = `${hostname()}, process ${process.pid}`

/** User and password as they are at the moment; that there are any does not change while the daemon runs. */
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
