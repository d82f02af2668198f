import { matches } from '../../alerts/match.ts'
import type { AlertMessage, AlertUpdate } from '../message.ts'
import { entriesOf, latestOf, type Moment, type Stage } from './batch.ts'
import { isOver } from './outcome.ts'

/** One message of all alerts that are ready: with their values as they are now, those that fire first. */
export const compose: Stage = (batch, moment) => {
  if (batch.kind !== 'ready') return batch
  const { target, severity } = latestOf(batch.alerts[0]!.alert)
  const updates = batch.alerts.flatMap(({ outcome }) => (outcome.kind === 'update' ? outcome.update : []))
  const passed = batch.alerts.flatMap(({ outcome }) => (outcome.kind === 'passed' ? outcome.passed : []))
  const isFiring = ({ notification }: AlertUpdate) => !isOver(notification)
  const ordered = [...updates.filter(isFiring), ...updates.filter((update) => !isFiring(update))]
  const alerts = ordered.map((update) => asOfNow(update, moment))
  const silenced = silencedBeside(target, severity, moment)
  const entries = entriesOf(batch.alerts.map(({ alert }) => alert))
  return { kind: 'message', entries, message: { kind: 'alerts', target, severity, alerts, passed, silenced } }
}

/** One that still fires has its value as it is now. */
function asOfNow(update: AlertUpdate, { alerts }: Moment): AlertUpdate {
  const { notification } = update
  const { target, key } = notification
  if (isOver(notification)) return update
  const live = alerts.find((alert) => alert.target === target && alert.instance.key === key)
  if (live === undefined || live.instance.state === 'pending') return update
  const { value, peak, calls, counts } = live.instance
  const latest = { value, peak, ...(calls === undefined ? {} : { calls }), ...(counts === undefined ? {} : { counts }) }
  return { ...update, notification: { ...notification, ...latest } }
}

/** Alerts of the same target and severity that fire and are silenced. */
function silencedBeside(
  target: string,
  severity: AlertMessage['severity'],
  { alerts, silences }: Moment,
): AlertMessage['silenced'] {
  return alerts.flatMap((live) => {
    const { key, labels, rule, state } = live.instance
    if (live.target !== target || rule.severity !== severity || state === 'pending') return []
    const alert = { alert: rule.name, severity, target, labels, match: rule.match }
    const silence = silences.find(({ match }) => matches(match, alert))
    return silence === undefined ? [] : { alert: key, until: silence.until, reason: silence.reason }
  })
}
