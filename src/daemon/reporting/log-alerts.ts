import type { AlertInstance } from '../../alerts/alert-instance.ts'
import type { AlertDelta } from '../../alerts/evaluate.ts'
import type { Notification } from '../../alerts/notification.ts'
import { isBeyond } from '../../alerts/signal.ts'
import { withUsual } from '../../alerts/usual.ts'
import { detailsOf, formatValue, titleOf } from '../../alerts/text/alert-text.ts'
import type { ChangeLog } from './change-log.ts'

/** The texts for one alert and for several. */
const STATES = {
  pending: ['is pending', 'are pending'],
  inactive: ['is no longer pending', 'are no longer pending'],
  firing: ['is firing', 'are firing'],
  resolved: ['has resolved', 'have resolved'],
  expired: ['expired', 'expired'],
} as const

/** What a line is about. */
type Changed = Pick<Notification, 'target' | 'alert' | 'labels' | 'severity' | 'value' | 'threshold'> & {
  state: keyof typeof STATES
}

/** Logs the changes of alerts that an evaluation of a target led to. */
export function logAlerts(log: ChangeLog, target: string, { changed, ended, notifications }: AlertDelta): void {
  for (const instance of changed) if (isNew(instance)) logPending(log, target, instance, 'pending')
  for (const instance of ended) if (instance.state === 'pending') logPending(log, target, instance, 'inactive')
  logNotified(log, notifications)
}

/** Logs the changes of state behind notifications. */
export function logNotified(log: ChangeLog, notifications: readonly Notification[]): void {
  for (const notification of notifications) {
    const { kind, target, alert, labels, severity, value, threshold } = notification
    write(log, { target, alert, labels, severity, state: kind, value, threshold }, `: ${detailsOf(notification)}`)
  }
}

function logPending(
  log: ChangeLog,
  target: string,
  { rule: own, labels, value, usual }: AlertInstance,
  state: 'pending' | 'inactive',
): void {
  const rule = withUsual(own, usual)
  const { name: alert, severity, signal, breach, threshold } = rule
  const values = `${formatValue(rule, value)}, threshold ${formatValue({ signal }, threshold)} (${breach})`
  // Too few calls, or a rule that is gone, end it with any value.
  const isExplained = state === 'pending' || (Number.isFinite(value) && !isBeyond(rule, value, threshold))
  write(log, { target, alert, labels, severity, state, value, threshold }, isExplained ? `: ${values}` : '')
}

function write(log: ChangeLog, { target, alert, severity, state, ...fields }: Changed, what: string): void {
  const [one, several] = STATES[state]
  const line = `alert ${titleOf({ alert, labels: fields.labels })} on ${target} ${one}${what}`
  const shared = { alert, severity, state }
  log.add({ level: 'info', target, fields, shared, line, together: `more alerts of ${alert} ${several}` })
}

/** Whether this evaluation is the first that saw the breach of a pending alert. Later evaluations change nothing. */
function isNew({ state, since, evaluatedAt }: AlertInstance): boolean {
  return state === 'pending' && since === evaluatedAt
}
