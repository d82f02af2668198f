import { alertOf } from '../../alerts/alert.ts'
import { matches } from '../../alerts/match.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import type { AlertMessage, AlertUpdate, Message } from '../message.ts'
import { linksOf } from '../text/links.ts'
import { isSame, type Inhibited, type Inhibitors } from './inhibition.ts'
import { entriesOf, latestOf, type Moment, type Stage } from './batch.ts'

export type ComposeOptions = {
  inhibitorsAmong: Inhibitors
  /** The page's address for users, if known. */
  publicUrl?: string | undefined
}

/** Composes one message of all ready alerts, with their current values. Firing alerts come first. */
export const compose =
  ({ inhibitorsAmong, publicUrl }: ComposeOptions): Stage =>
  (batch, moment) => {
    if (batch.kind !== 'ready') return batch
    const { target, severity } = latestOf(batch.alerts[0]!.alert)
    const updates = batch.alerts.flatMap(({ merged }) => (merged.kind === 'update' ? merged.update : []))
    const flapped = batch.alerts.flatMap(({ merged }) => (merged.kind === 'flapped' ? merged.flapped : []))
    const isFiring = ({ notification }: AlertUpdate) => !hasEnded(notification)
    const ordered = [...updates.filter(isFiring), ...updates.filter((update) => !isFiring(update))]
    const alerts = ordered.map((update) => withLinks(withCurrentValue(update, moment), publicUrl))
    const silenced = silencedBeside(target, severity, moment)
    const firing = alerts.filter(isFiring).map(({ notification }) => notification)
    const inhibited = inhibitedBy(firing, moment, inhibitorsAmong)
    const entries = entriesOf(batch.alerts.map(({ alert }) => alert))
    const message: Message = { kind: 'alerts', target, severity, alerts, flapped, silenced, inhibited }
    return { kind: 'message', entries, message }
  }

function withLinks(update: AlertUpdate, publicUrl: string | undefined): AlertUpdate {
  return publicUrl === undefined ? update : { ...update, links: linksOf(update.notification, publicUrl) }
}

/** Firing alerts that are not notified because the given alerts inhibit them. */
function inhibitedBy(
  firing: readonly Notification[],
  { alerts, silences }: Moment,
  inhibitorsAmong: Inhibitors,
): AlertMessage['inhibited'] {
  const inhibitorsOf = inhibitorsAmong(alerts)
  /** Whether one of the given alerts inhibits this one, directly or through another alert that it inhibits. */
  const isInhibited = (alert: Inhibited, flapped: readonly Inhibited[]): boolean =>
    inhibitorsOf(alert).some(
      (one) =>
        firing.some((notified) => isSame(notified, one)) ||
        (!flapped.some((other) => isSame(other, one)) && isInhibited(one, [...flapped, one])),
    )
  return alerts.flatMap((live) => {
    const alert = alertOf(live)
    const isLive = live.instance.state !== 'pending' && !firing.some((notified) => isSame(notified, alert))
    const isSilenced = silences.some(({ match }) => matches(match, alert))
    if (!isLive || isSilenced || !isInhibited(alert, [alert])) return []
    return { alert: alert.key, target: alert.target, severity: alert.severity }
  })
}

/** Gives an alert that still fires its current value and evidence, so that all figures are of the same time. */
function withCurrentValue(update: AlertUpdate, { alerts }: Moment): AlertUpdate {
  const { notification } = update
  if (hasEnded(notification)) return update
  const live = alerts.find(({ target, instance: { key } }) => isSame({ target, key }, notification))
  if (live === undefined || live.instance.state === 'pending') return update
  const { kind, severity, at, since, firingSince, threshold, asOf } = notification
  const isOld = asOf !== undefined && live.instance.evaluatedAt <= asOf
  const latest = { ...alertOf(live), kind, severity, at, since, firingSince, threshold, ...(isOld && { asOf }) }
  return { ...update, notification: latest }
}

/** Firing alerts of the same target and severity that are silenced. */
function silencedBeside(
  target: string,
  severity: AlertMessage['severity'],
  { alerts, silences }: Moment,
): AlertMessage['silenced'] {
  return alerts.flatMap((live) => {
    const alert = alertOf(live)
    if (alert.target !== target || alert.severity !== severity || live.instance.state === 'pending') return []
    const silence = silences.find(({ match }) => matches(match, alert))
    return silence === undefined ? [] : { alert: alert.key, until: silence.until, reason: silence.reason }
  })
}
