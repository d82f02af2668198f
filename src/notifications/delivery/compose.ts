import { matches } from '../../alerts/match.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import type { AlertMessage, AlertUpdate } from '../message.ts'
import { linksOf } from '../text/links.ts'
import { inhibitedOf, inhibitorsAmong, type Inhibition } from './inhibition.ts'
import { entriesOf, latestOf, type Moment, type Stage } from './batch.ts'

export type ComposeOptions = {
  inhibit: readonly Inhibition[]
  /** How users reach the page, where that is known. */
  publicUrl?: string | undefined
}

/** One message of all alerts that are ready, with their current values; firing ones come first. */
export const compose =
  ({ inhibit, publicUrl }: ComposeOptions): Stage =>
  (batch, moment) => {
    if (batch.kind !== 'ready') return batch
    const { target, severity } = latestOf(batch.alerts[0]!.alert)
    const updates = batch.alerts.flatMap(({ merged }) => (merged.kind === 'update' ? merged.update : []))
    const passed = batch.alerts.flatMap(({ merged }) => (merged.kind === 'passed' ? merged.passed : []))
    const isFiring = ({ notification }: AlertUpdate) => !hasEnded(notification)
    const ordered = [...updates.filter(isFiring), ...updates.filter((update) => !isFiring(update))]
    const alerts = ordered.map((update) => withLinks(withCurrentValue(update, moment), publicUrl))
    const silenced = silencedBeside(target, severity, moment)
    const firing = alerts.filter(isFiring).map(({ notification }) => notification)
    const inhibited = inhibitedBy(firing, moment, inhibit)
    const entries = entriesOf(batch.alerts.map(({ alert }) => alert))
    return {
      kind: 'message',
      entries,
      message: { kind: 'alerts', target, severity, alerts, passed, silenced, inhibited },
    }
  }

function withLinks(update: AlertUpdate, publicUrl: string | undefined): AlertUpdate {
  return publicUrl === undefined ? update : { ...update, links: linksOf(update.notification, publicUrl) }
}

/** Alerts that fire, and that are not notified because these alerts do. */
function inhibitedBy(
  firing: readonly Notification[],
  { alerts }: Moment,
  inhibit: readonly Inhibition[],
): AlertMessage['inhibited'] {
  const inhibitorsOf = inhibitorsAmong(alerts, inhibit)
  return alerts.flatMap((live) => {
    const alert = inhibitedOf(live)
    if (live.instance.state === 'pending') return []
    const by = inhibitorsOf(alert).filter((one) =>
      firing.some(({ target, key }) => target === one.target && key === one.key),
    )
    return by.length === 0 ? [] : { alert: alert.key, target: alert.target, severity: alert.severity }
  })
}

/** Gives an alert that still fires its current value, with what explains that one: all figures are of one moment. */
function withCurrentValue(update: AlertUpdate, { alerts }: Moment): AlertUpdate {
  const { notification } = update
  const { target, key } = notification
  if (hasEnded(notification)) return update
  const live = alerts.find((alert) => alert.target === target && alert.instance.key === key)
  if (live === undefined || live.instance.state === 'pending') return update
  const { value, peak, calls, counts, evidence } = live.instance
  const {
    contributor: _contributor,
    trend: _trend,
    forecast: _forecast,
    window: _window,
    cause: _cause,
    ...rest
  } = notification
  const latest = { value, peak, ...(calls === undefined ? {} : { calls }), ...(counts === undefined ? {} : { counts }) }
  return { ...update, notification: { ...rest, ...latest, ...evidence } }
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
