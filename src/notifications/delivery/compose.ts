import { alertOf, type Alert } from '../../alerts/alert.ts'
import { matches } from '../../alerts/match.ts'
import { isMoreSevere } from '../../alerts/match-keys.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { isBeyond } from '../../alerts/signal.ts'
import type { GroupOf } from '../grouping.ts'
import type { AlertMessage, AlertUpdate, FlappedAlert, Message } from '../message.ts'
import { linksOf, withRunbook } from '../text/links.ts'
import { isSame, type Inhibited } from './inhibition.ts'
import { entriesOf, latestOf, type Moment, type Stage } from './batch.ts'

export type ComposeOptions = {
  groupOf: GroupOf
  /** The page's address for users, if known. */
  publicUrl?: string | undefined
  /** How many targets there are. */
  targets: () => number
}

/** Composes one message of all ready alerts, with their current values. Firing alerts come first, the worst of them first. */
export const compose =
  ({ groupOf, publicUrl, targets }: ComposeOptions): Stage =>
  (batch, moment) => {
    if (batch.kind !== 'ready') return batch
    const { group } = batch
    const changes = batch.alerts.map(({ alert }) => latestOf(alert))
    const updates = batch.alerts.flatMap(({ merged }) => (merged.kind === 'update' ? merged.update : []))
    const flapped = batch.alerts.flatMap(({ merged }) => (merged.kind === 'flapped' ? merged.flapped : []))
    const current = worstFirst(updates.map((update) => withCurrentValue(update, moment)))
    const isFiring = ({ notification }: AlertUpdate) => !hasEnded(notification)
    const ordered = [...current.filter(isFiring), ...current.filter((update) => !isFiring(update))]
    const alerts = ordered.map((update) => withLinks(update, publicUrl))
    const firing = alerts.filter(isFiring).map(({ notification }) => notification)
    const siblings = moment.alerts.flatMap((live) => {
      const alert = alertOf(live)
      return live.instance.state !== 'pending' && groupOf(alert).key === group.key ? alert : []
    })
    const message: Message = {
      kind: 'alerts',
      group: group.labels,
      target: new Set(changes.map(({ target }) => target)).size === 1 ? changes[0]!.target : undefined,
      severity: changes.reduce((worst, change) => (isMoreSevere(change, worst) ? change : worst)).severity,
      firing: { targets: new Set(siblings.map(({ target }) => target)).size, of: targets() },
      alerts,
      flapped: flapped.map((each) => withLinks(each, publicUrl)),
      silenced: silencedAmong(siblings, moment),
      inhibited: inhibitedBy(firing, moment),
    }
    return { kind: 'message', subject: group.key, entries: entriesOf(batch.alerts.map(({ alert }) => alert)), message }
  }

/** By value or, of those that have ended, by peak; those of one rule can be compared. */
function worstFirst(updates: readonly AlertUpdate[]): AlertUpdate[] {
  const worst = ({ notification }: AlertUpdate) => (hasEnded(notification) ? notification.peak : notification.value)
  return updates.toSorted((one, other) => {
    if (one.notification.alert !== other.notification.alert || worst(one) === worst(other)) return 0
    return isBeyond(one.notification, worst(one), worst(other)) ? -1 : 1
  })
}

function withLinks<T extends AlertUpdate | FlappedAlert>(change: T, publicUrl: string | undefined): T {
  if (publicUrl === undefined) return change
  const notification = withRunbook(change.notification, publicUrl)
  return { ...change, notification, links: linksOf(notification, publicUrl) }
}

/** Firing alerts that are not notified because the given alerts inhibit them. */
function inhibitedBy(
  firing: readonly Notification[],
  { alerts, silences, inhibitorsOf }: Moment,
): AlertMessage['inhibited'] {
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

function silencedAmong(siblings: readonly Alert[], { silences }: Moment): AlertMessage['silenced'] {
  return siblings.flatMap((alert) => {
    const silence = silences.find(({ match }) => matches(match, alert))
    if (silence === undefined) return []
    return { alert: alert.key, target: alert.target, until: silence.until, reason: silence.reason }
  })
}
