import type { Logger } from 'pino'
import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { AlertDelta } from '../alerts/evaluate.ts'
import type { Notification } from '../alerts/notification.ts'
import { formatValue, summaryOf, titleOf } from '../notifications/text/notification-text.ts'

/** Logs each change of state of a target's alerts. */
export function logAlerts(log: Logger, target: string, { changed, ended, notifications }: AlertDelta): void {
  const logPending = (instance: AlertInstance, state: string, what: string) => {
    const { rule, labels, value } = instance
    const { name: alert, severity, signal, breach, threshold } = rule
    const values = `${formatValue(rule, value)}, threshold ${formatValue({ signal }, threshold)} (${breach})`
    const fields = { target, alert, labels, severity, state, value, threshold }
    log.info(fields, `alert ${titleOf({ alert, labels })} on ${target} ${what}: ${values}`)
  }
  for (const instance of changed) if (isNew(instance)) logPending(instance, 'pending', 'is pending')
  for (const instance of ended) {
    if (instance.state === 'pending') logPending(instance, 'inactive', 'is no longer pending, and was last at')
  }
  logNotifications(log, notifications)
}

/** Logs the changes of state that notifications are about; a reminder is none. */
export function logNotifications(log: Logger, notifications: readonly Notification[]): void {
  for (const notification of notifications) {
    const { kind, target, alert, labels, severity, value, threshold } = notification
    if (kind === 'reminder') continue
    const fields = { target, alert, labels, severity, state: kind, value, threshold }
    const state = { firing: 'is firing', resolved: 'has resolved', closed: 'has ended' }[kind]
    log.info(fields, `alert ${titleOf(notification)} on ${target} ${state}: ${summaryOf(notification)}`)
  }
}

/** Of a pending alert the evaluation that saw the breach first; none of those that follow is a change. */
function isNew({ state, since, evaluatedAt }: AlertInstance): boolean {
  return state === 'pending' && since === evaluatedAt
}
