import type { AlertInstance } from '../alerts/alert-instance.ts'
import { expiredNotifications } from '../alerts/evaluate.ts'
import { expiryEvents } from '../events/new-events.ts'
import type { Target } from './target.ts'

/** What ends the alerts of a target that is not polled any more: what is said of them, and what the store gets. */
export function expiry(
  { clock, receiversOf }: Pick<Target, 'clock' | 'receiversOf'>,
  target: string,
  alerts: readonly AlertInstance[],
  because: 'target reset' | 'target removed',
) {
  const now = clock.wall()
  const notifications = expiredNotifications(target, alerts, because, now)
  const routedChanges = notifications.map((change) => ({ change, receivers: receiversOf(change) }))
  return { now, notifications, stored: [target, routedChanges, expiryEvents(target, notifications, now)] as const }
}
