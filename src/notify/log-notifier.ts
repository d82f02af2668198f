import type { Notification } from '../alerts/notification.ts'
import type { Notifier } from './notifier.ts'

/** Where no channel is configured, alerts go to the log. */
export function logNotifier(log: (notification: Notification) => void): Notifier {
  return {
    name: 'log',
    deliver: async (notification) => log(notification),
  }
}
