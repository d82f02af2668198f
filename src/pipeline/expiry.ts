import type { AlertInstance } from '../alerts/alert-instance.ts'
import { expiredNotifications } from '../alerts/evaluate.ts'
import { expiryEvents } from '../events/new-events.ts'
import type { Target } from './target.ts'

/** Expires the alerts of a target that is no longer polled: the notifications, and the changes of the store. */
export function expiry(
  { clock }: Pick<Target, 'clock'>,
  target: string,
  alerts: readonly AlertInstance[],
  because: 'target reset' | 'target removed',
) {
  const now = clock.wall()
  const notifications = expiredNotifications(target, alerts, because, now)
  return { now, notifications, stored: [target, notifications, expiryEvents(notifications, now)] as const }
}
