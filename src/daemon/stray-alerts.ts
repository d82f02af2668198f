import { expectTargets } from '../history/usage.ts'
import { expiry } from '../pipeline/expiry.ts'
import type { Store } from '../store/store.ts'
import { changeLog } from './reporting/change-log.ts'
import { logNotified } from './reporting/log-alerts.ts'
import type { DaemonOptions } from './open-parts.ts'

/**
 * Deletes the stored state of a target that must be reset. Expires its alerts, and the alerts of targets that were removed
 * from the configuration, and notifies their recipients. Open calls of the removed targets are lost from now on.
 *
 * @throws {StoreError}
 * @throws {QueryError} if neither the configuration nor the store has the target to reset
 */
export async function expireStrayAlerts(options: DaemonOptions & { store: Store }): Promise<void> {
  const { store, log, config, resetTarget } = options
  const configured = config.targets.map(({ name }) => name)
  if (resetTarget !== undefined) await expectTargets(store, [resetTarget], configured)
  const logged = changeLog(log)
  const stray = await store.strayTargets(configured.filter((name) => name !== resetTarget))
  const alertsOf = new Map(stray.map(({ target, alerts }) => [target, alerts]))
  if (resetTarget !== undefined) alertsOf.set(resetTarget, alertsOf.get(resetTarget) ?? [])
  for (const [target, alerts] of alertsOf) {
    const isReset = target === resetTarget
    const { stored, notifications, now } = expiry(options, target, alerts, isReset ? 'target reset' : 'target removed')
    logNotified(logged, notifications)
    await (isReset ? store.resetTarget(...stored) : store.expireAlerts(...stored, now))
  }
  logged.flush()
}
