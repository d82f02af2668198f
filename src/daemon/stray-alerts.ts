import type { Logger } from 'pino'
import { expiredNotifications } from '../alerts/evaluate.ts'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { expiryEvents } from '../events/new-events.ts'
import { expectTargets } from '../history/usage-report.ts'
import type { ReceiversOf } from '../pipeline/target.ts'
import type { Store } from '../store/store.ts'
import { changeLog } from './change-log.ts'
import { logNotified } from './log-alerts.ts'

export type StrayAlertsOptions = {
  store: Store
  clock: Clock
  log: Logger
  receiversOf: ReceiversOf
  config: Pick<Config, 'targets'>
  /** Whose stored state is removed. */
  resetTarget?: string | undefined
}

/**
 * Removes what is stored of a target that must be reset. Closes its alerts, and those of targets that were removed from the
 * configuration, and notifies their recipients; the open calls of the latter are lost from now on.
 *
 * @throws {StoreError}
 * @throws {QueryError} when neither the configuration nor the store has the target to reset
 */
export async function expireStrayAlerts(options: StrayAlertsOptions): Promise<void> {
  const { store, clock, log, receiversOf, config, resetTarget } = options
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
