import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { defer, firstValueFrom, takeUntil, throwIfEmpty, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { STARTING } from '../cluster/member-status.ts'
import { ALONE_MEMBERSHIP, sharedOwnership, type Membership } from '../cluster/shared-ownership.ts'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets.ts'
import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
import { secretsMask, type SecretsMask } from '../log/mask-secrets.ts'
import { metricsOf, type Metrics } from '../metrics/registry.ts'
import { recipientsBy } from '../notifications/grouping.ts'
import { lifecycle, type Lifecycle } from '../pipeline/lifecycle.ts'
import type { ReceiversOf } from '../pipeline/target.ts'
import { openStore } from '../store/open-store.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import { deliveryFailures, type Failures } from '../notifications/delivery/attempts.ts'
import { activeReceivers, type ActiveReceivers } from './active-receivers.ts'
import type { ConfigReading } from './config-readings.ts'
import { newOverviews, type Overviews } from './overviews.ts'
import { reporter } from './reporting/reporter.ts'
import { passedHints, type PassedHints } from './passed-hints.ts'
import { newRetention } from './retention.ts'
import { serve } from './serve.ts'
import { sharedSettings } from './shared-settings.ts'
import { storeHealth, type StoreHealth } from './reporting/store-problem.ts'
import { expireStrayAlerts } from './stray-alerts.ts'
import { VERSION } from './version.ts'

export type DaemonOptions = {
  /** The configuration at the start. */
  config: Config
  /** Whether commands find its file only by `--config`. */
  isNamed?: boolean
  /** The configurations that are read while the daemon runs. */
  readings$?: Observable<ConfigReading>
  /** Learns the secrets of each configuration before the configuration becomes active. */
  secrets?: SecretsMask
  clock: Clock
  /** A random number from 0 to 1. */
  random: () => number
  log: Logger
  /** How many lines of the log could not be written. */
  droppedLines?: () => number
  /** Emits when the daemon must stop; must replay. */
  draining$: Observable<unknown>
  /** A target whose stored state is deleted before it is polled. */
  resetTarget?: string | undefined
}

/** What most parts of a daemon need. */
export type DaemonParts = Pick<DaemonOptions, 'clock' | 'random' | 'log' | 'draining$' | 'isNamed'> & {
  /** Removes secrets from a text. */
  mask: SecretsMask['mask']
  /** The active configuration. */
  config: () => Config
  store: Store
  /** Which targets this daemon owns, and whether it is the leader of the daemons that share a store. */
  ownership: Membership
  targets: Lifecycle
  overviews: Overviews
  hints: PassedHints
  health: StoreHealth
  receivers: ActiveReceivers
  failures: Failures
  metrics: Metrics
  /** How many lines of the log could not be written. */
  droppedLines: () => number
}

export type OpenDaemon = Awaited<ReturnType<typeof openParts>>

/**
 * The name of this daemon on other daemons' pages. Containers differ in the host name, daemons on one machine in the process
 * id.
 */
const DAEMON_NAME = `${hostname()}, process ${process.pid}`
/** After a restart, the exported windows are counted from the history (seconds). */
const MAX_WINDOW_SECONDS = Math.max(...Object.values(EXPORTED_WINDOWS))

/** The daemon had to stop before its store was open. */
export class StoppedError extends Error {}

/**
 * Opens the parts of a daemon, each with the parts that it needs. If one cannot be opened, the others are closed.
 *
 * @throws {StoppedError}
 */
export async function openParts(options: DaemonOptions) {
  const { config: first, isNamed = false, clock, random, log, draining$, droppedLines = () => 0 } = options
  const { secrets = secretsMask(secretsOf(first)) } = options
  const { mask } = secrets
  await using opened = new AsyncDisposableStack()
  let active = first
  const config = () => active
  const receivers = await activeReceivers(first, clock, log)
  const receiversOf: ReceiversOf = (change) => recipientsBy(active.notify.routes, receivers.names())(change)
  const open$ = defer(() => openStore(first.store, receivers.names(), (line) => log.info(line)))
  const stopped = () => new StoppedError()
  // This may take minutes, and nothing has to be finished before.
  const store = await firstValueFrom(open$.pipe(takeUntil(draining$), throwIfEmpty(stopped)))
  opened.defer(store.close)
  // Numbers what was committed while the daemon stopped, so that it can be read even if no daemon runs.
  opened.defer(async () => store.cluster?.numberEvents().catch(onlyStoreErrors(undefined)))
  const ownership = await join(store, { ...options, config })
  opened.defer(ownership.leave)
  await expireStrayAlerts({ ...options, store, receiversOf })
  const targets = lifecycle({ ...options, store, receiversOf, ownership, mask })
  await targets.open(first)
  const overviews = newOverviews(store.cluster, { clock, targets, ownership })
  const health = storeHealth(clock, ownership)
  const metrics = metricsOf(targets.loaded, VERSION)
  const hints = passedHints({ cluster: store.cluster, clock, ownership, targets })
  const failures = deliveryFailures(clock, mask)
  const ofDaemon = { isNamed, clock, random, log, draining$, mask, droppedLines, config, store }
  const shared: DaemonParts = {
    ...ofDaemon,
    ownership,
    targets,
    overviews,
    hints,
    health,
    receivers,
    failures,
    metrics,
  }
  const web = await serve(shared)
  opened.defer(web.close)
  const retention = newRetention({
    ...shared,
    lastSuccesses: () => [
      ...targets.loaded().map(({ ledger }) => ledger.sync.lastSuccess),
      ...overviews.others().map(({ lastSuccess }) => lastSuccess),
    ],
    kept: () => Math.max(active.store.history, MAX_WINDOW_SECONDS),
  })
  const parts = {
    ...shared,
    secrets,
    web,
    retention,
    report: reporter(shared),
    activate: (next: Config) => void (active = next),
  }
  const closing = opened.move()
  return { ...parts, close: () => closing.disposeAsync() }
}

async function join(
  { cluster }: Pick<Store, 'cluster'>,
  { config, clock, draining$ }: Pick<DaemonParts, 'config' | 'clock' | 'draining$'>,
): Promise<Membership> {
  if (cluster === undefined) return ALONE_MEMBERSHIP
  await cluster.join(DAEMON_NAME, STARTING, sharedSettings(config()))
  const targets = () => config().targets.map(({ name }) => name)
  return sharedOwnership({ cluster, clock, name: DAEMON_NAME, targets, draining$ })
}
