import type { Notification } from '../../../../src/alerts/notification.ts'
import type { Store } from '../../../../src/store/store.ts'
import { commitChanges } from '../../store/place.ts'

/** Commits a change of an alert, as the poll does that finds it. */
export async function commitChange(store: Store, change: Notification): Promise<void> {
  await commitChanges(store, change.target, { changes: [change] })
}

/** Tells the store which receivers are configured, as a reload does. */
export async function useReceivers(store: Store, names: readonly string[]): Promise<void> {
  await store.setReceivers(names)
}
