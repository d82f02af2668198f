import { expectTargets } from '../history/usage.ts'
import { expiry } from '../pipeline/expiry.ts'
import type { Store } from '../store/store.ts'
import { changeLog } from './reporting/change-log.ts'
import { logNotified } from './reporting/log-alerts.ts'
import type { DaemonOptions } from './daemon-options.ts'

type Options = DaemonOptions & { store: Store }

/**
 * Deletes the stored state of the target that must be reset. Expires its alerts, and notifies their recipients.
 *
 * @throws {StoreError}
 * @throws {QueryError} if neither the configuration nor the store has the target to reset
 */
export async function resetStoredTarget(options: Options): Promise<void> {
  const { store, log, config, resetTarget } = options
  if (resetTarget === undefined) return
  const configured = config.targets.map(({ name }) => name)
  await expectTargets(store, [resetTarget], configured)
  const stray = await store.strayTargets(configured.filter((name) => name !== resetTarget))
  const alerts = stray.find(({ target }) => target === resetTarget)?.alerts ?? []
  const { stored, notifications } = expiry(options, resetTarget, alerts, 'target reset')
  const logged = changeLog(log)
  logNotified(logged, notifications)
  logged.flush()
  await store.resetTarget(...stored)
}

/**
 * Expires the alerts of targets that were removed from the configuration, and notifies their recipients. Open calls of these targets are
 * lost from now on.
 *
 * @throws {StoreError}
 */
export async function expireStrayAlerts(options: Options): Promise<void> {
  const { store, log, config } = options
  const logged = changeLog(log)
  for (const { target, alerts } of await store.strayTargets(config.targets.map(({ name }) => name))) {
    const { stored, notifications, now } = expiry(options, target, alerts, 'target removed')
    logNotified(logged, notifications)
    await store.expireAlerts(...stored, now)
  }
  logged.flush()
}
