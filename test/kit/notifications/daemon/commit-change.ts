import type { Notification } from '../../../../src/alerts/notification.ts'
import type { Config } from '../../../../src/config/config.ts'
import { recipientsBy } from '../../../../src/notifications/grouping.ts'
import type { Store } from '../../../../src/store/store.ts'
import { commitChanges } from '../../store/place.ts'

/** Commits a change of an alert, as the poll does that finds it. */
export async function commitChange(
  store: Store,
  change: Notification,
  { config, receivers }: { config: Config; receivers: readonly string[] },
): Promise<void> {
  const routed = recipientsBy(config.notify.routes, receivers)(change)
  await commitChanges(store, change.target, { routedChanges: [{ change, receivers: routed }] })
}

/** Tells the store which receivers are configured, as a reload does. */
export async function useReceivers(store: Store, names: readonly string[]): Promise<void> {
  await store.setReceivers(names)
}
