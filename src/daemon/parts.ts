import type { DaemonOptions } from './daemon-options.ts'
import { hostname } from 'node:os'
import { defer, firstValueFrom, takeUntil, throwIfEmpty } from 'rxjs'
import { STARTING } from '../cluster/member-status.ts'
import { ALONE_MEMBERSHIP, sharedOwnership, type Membership } from '../cluster/shared-ownership.ts'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets.ts'
import { secretsMask } from '../log/mask-secrets.ts'
import { metricsOf } from '../metrics/registry.ts'
import { lifecycle } from '../pipeline/lifecycle.ts'
import { openStore } from '../store/open-store.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import { deliveryFailures } from '../notifications/delivery/delivery-failures.ts'
import { activeReceivers } from './active-receivers.ts'
import { newOverviews } from './overviews.ts'
import { passedHints } from './passed-hints.ts'
import { sharedSettings } from './shared-settings.ts'
import { storeHealth } from './reporting/store-problem.ts'
import { logRenamed } from './reporting/log-renamed.ts'
import { expireStrayAlerts, resetStoredTarget } from './stray-alerts.ts'
import { VERSION } from './version.ts'

/** What most parts of a daemon need. */
export type DaemonParts = Awaited<ReturnType<typeof openShared>>

/**
 * The name of this daemon on other daemons' pages. Containers differ in the host name, daemons on one machine in the process
 * id.
 */
const DAEMON_NAME = `${hostname()}, process ${process.pid}`
/** The daemon had to stop before its store was open. */
export class StoppedError extends Error {}

/**
 * Opens the parts that others need.
 *
 * @param opened closes what is opened
 * @throws {StoppedError}
 */
export async function openShared(options: DaemonOptions, opened: AsyncDisposableStack) {
  const { config: first, isNamed = false, clock, random, log, draining$, droppedLines = () => 0 } = options
  const { secrets = secretsMask(secretsOf(first)) } = options
  const { mask } = secrets
  let active = first
  const receivers = await activeReceivers(first, clock)
  const open$ = defer(() => openStore(first.store, receivers.keys(), (line) => log.info(line)))
  const stopped = () => new StoppedError()
  // This may take minutes, and nothing has to be finished before.
  const store = await firstValueFrom(open$.pipe(takeUntil(draining$), throwIfEmpty(stopped)))
  opened.defer(store.close)
  // Numbers what was committed while the daemon stopped, so that it can be read even if no daemon runs.
  opened.defer(async () => store.cluster?.numberEvents().catch(onlyStoreErrors(undefined)))
  const config = () => active
  const ownership = await join(store, { clock, draining$, config })
  opened.defer(ownership.leave)
  await resetStoredTarget({ ...options, store })
  const targets = lifecycle({ ...options, store, ownership, mask })
  logRenamed(log, await targets.open(first))
  await expireStrayAlerts({ ...options, store })
  const given = { isNamed, clock, random, log, draining$, droppedLines, secrets, mask }
  return {
    ...given,
    /** The active configuration. */
    config,
    activate: (next: Config) => void (active = next),
    store,
    /** Which targets this daemon owns, and whether it is the leader of the daemons that share a store. */
    ownership,
    targets,
    receivers,
    overviews: newOverviews(store.cluster, { clock, targets, ownership }),
    hints: passedHints(store.cluster, { clock, ownership, targets }),
    health: storeHealth(clock, ownership),
    failures: deliveryFailures(mask),
    metrics: metricsOf(targets.loaded, VERSION),
  }
}

/** The membership of a daemon that shares its store, and whether it is the leader of these daemons. */
async function join(
  { cluster }: Pick<Store, 'cluster'>,
  { config, clock, draining$ }: Pick<DaemonOptions, 'clock' | 'draining$'> & { config: () => Config },
): Promise<Membership> {
  if (cluster === undefined) return ALONE_MEMBERSHIP
  await cluster.join(DAEMON_NAME, STARTING, sharedSettings(config()))
  const targets = () => config().targets.map(({ name }) => name)
  return sharedOwnership({ cluster, clock, name: DAEMON_NAME, targets, draining$ })
}
