import { alertOf, nameOf, type LiveAlert } from '../../alerts/alert.ts'
import { matches } from '../../alerts/match.ts'
import { bySeverity, isMoreSevere, type Severity } from '../../alerts/match-keys.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { isBeyond } from '../../alerts/signal.ts'
import type { Incident } from '../../alerts/incidents.ts'
import type { AlertMessage, AlertUpdate, FlappedAlert } from '../message.ts'
import type { OutboxEntry, ToldGroup } from '../../store/store.ts'
import { isActive, type Mute } from './suppress.ts'
import { FIRST_GROWTH, intervalAfter, lasting } from './wait.ts'
import { groupLinks, linksOf, withRunbook } from '../text/links.ts'
import { isSame, type Inhibited } from './inhibition.ts'
import { entriesOf, latestOf, type Batch, type Moment, type Stage } from './batch.ts'

export type ComposeOptions = {
  receiver: string
  /** The page's address for users, if known. */
  publicUrl?: string | undefined
  /** How many targets there are. */
  targets: () => number
  mutes?: readonly Mute[]
}

/** Composes one message of all ready alerts, with their current values, and notes what it says of their group. */
export const compose =
  (options: ComposeOptions): Stage =>
  (batch, moment) => {
    if (batch.kind !== 'ready') return batch
    const { group } = batch
    const entries = entriesOf(batch.alerts.map(({ alert }) => alert))
    const incident = moment.incident(group.key)
    const told = lasting(moment, group.key, batch.alerts.map(({ alert }) => alert)) // oxfmt-ignore
    const begun = told?.begun ?? firstOf(entries) ?? moment.now
    const { posted } = told ?? {}
    const message: AlertMessage = {
      ...aboutGroup(batch, incident, options),
      begun,
      ...(posted !== undefined && { posted }),
      isWorse: told !== undefined && incident !== undefined && isMoreSevere(incident, told),
      mayBePosted: entries.some(({ claimed }) => claimed),
      ...changesIn(batch, incident, moment, options),
    }
    const telling = { receiver: options.receiver, group: group.key, told: toldBy(group, message, told, moment) }
    return { kind: 'message', subject: group.key, entries, message, told: telling }
  }

/** What the receiver knows after a message. */
function toldBy(
  group: Ready['group'],
  message: AlertMessage,
  told: ToldGroup | undefined,
  moment: Moment,
): ToldGroup | undefined {
  const { incident, begun, flapped, posted } = message
  const { firing } = incident?.targets ?? { firing: 0 }
  if (firing === 0 && flapped.length === 0 && group.interval === 0) return undefined
  const { told: all, now } = moment
  const begunAgain = told?.begunAgain ?? againAfter(all.get(group.key), group.interval, now)
  const known = {
    at: now,
    begun,
    interval: intervalAfter(told, group, moment),
    hasGrown: told !== undefined && (told.hasGrown || firing >= FIRST_GROWTH * told.targets),
    begunAgain,
    targets: firing,
    severity: severityOf(message),
  }
  return { ...known, ...(posted !== undefined && { posted }) }
}

/** The highest severity of what a message says fires. The incident may have a more severe alert that is silenced or inhibited. */
function severityOf({ alerts, unchanged, severity }: AlertMessage): Severity {
  const told = [...alerts.map(({ notification }) => notification).filter((one) => !hasEnded(one)), ...unchanged]
  return told.toSorted(bySeverity)[0]?.severity ?? severity
}

/** How often the group began to fire again, soon after the message before. */
function againAfter(before: ToldGroup | undefined, interval: number, now: number): number {
  return before !== undefined && now - before.at < 2 * interval ? before.begunAgain + 1 : 0
}

/** When the first of these changes happened: the same at each attempt. */
function firstOf(entries: readonly OutboxEntry[]): number | undefined {
  const times = entries.flatMap(({ content }) => (content.kind === 'digest' ? [] : content.at))
  return times.length === 0 ? undefined : Math.min(...times)
}

type Ready = Extract<Batch, { kind: 'ready' }>

/** What a message says of its group. */
function aboutGroup({ group, alerts }: Ready, incident: Incident | undefined, { publicUrl, targets }: ComposeOptions) {
  const changes = alerts.map(({ alert }) => latestOf(alert))
  const all = [...changes, ...(incident?.firing ?? [])]
  return {
    kind: 'alerts' as const,
    group: group.labels,
    route: group.route,
    target: new Set(all.map(({ target }) => target)).size === 1 ? all[0]!.target : undefined,
    severity: incident?.severity ?? changes.reduce((worst, one) => (isMoreSevere(one, worst) ? one : worst)).severity,
    incident,
    targets: targets(),
    ...(publicUrl !== undefined && { links: groupLinks(incident?.firing ?? changes, group.labels, publicUrl) }),
  }
}

/** The changes in a message, with their current values. Firing alerts come first, the worst of them first. */
function changesIn(
  batch: Ready,
  incident: Incident | undefined,
  moment: Moment,
  { publicUrl, mutes = [] }: ComposeOptions,
) {
  const updates = batch.alerts.flatMap(({ merged }) => (merged.kind === 'update' ? merged.update : []))
  const flapped = batch.alerts.flatMap(({ merged }) => (merged.kind === 'flapped' ? merged.flapped : []))
  const lives = new Map(moment.alerts.map((live) => [nameOf({ target: live.target, key: live.instance.key }), live]))
  const current = worstFirst(updates.map((update) => withCurrentValue(update, lives)))
  const isFiring = ({ notification }: AlertUpdate) => !hasEnded(notification)
  const ordered = [...current.filter(isFiring), ...current.filter((update) => !isFiring(update))]
  const alerts = ordered.map((update) => withLinks(update, publicUrl))
  return {
    alerts,
    unchanged: unchangedIn(incident, batch, moment, mutes),
    flapped: flapped.map((each) => withLinks(each, publicUrl)),
    silenced: silencedAmong(incident, moment),
    inhibited: inhibitedBy(
      alerts.filter(isFiring).map(({ notification }) => notification),
      moment,
    ),
  }
}

/** What fires in the group, was notified before, and nothing suppresses. */
function unchangedIn(
  incident: Incident | undefined,
  { alerts }: Ready,
  { now, silences, inhibitorsOf, waiting }: Moment,
  mutes: readonly Mute[],
): Notification[] {
  const changed = new Set(alerts.map(({ alert }) => nameOf(latestOf(alert))))
  const active = [...silences, ...mutes.filter((mute) => isActive(mute, now))]
  return (incident?.firing ?? []).flatMap((alert) => {
    if (waiting.has(nameOf(alert)) || changed.has(nameOf(alert)) || inhibitorsOf(alert).length > 0) return []
    return active.some(({ match }) => matches(match, alert)) ? [] : { ...alert, kind: 'firing' as const, at: now }
  })
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
  const notified = new Set(firing.map(nameOf))
  /** Whether one of the given alerts inhibits this one, directly or through another alert that it inhibits. */
  const isInhibited = (alert: Inhibited, flapped: readonly Inhibited[]): boolean =>
    inhibitorsOf(alert).some(
      (one) =>
        notified.has(nameOf(one)) ||
        (!flapped.some((other) => isSame(other, one)) && isInhibited(one, [...flapped, one])),
    )
  return alerts.flatMap((live) => {
    const alert = alertOf(live)
    const isLive = live.instance.state !== 'pending' && !notified.has(nameOf(alert))
    const isSilenced = silences.some(({ match }) => matches(match, alert))
    if (!isLive || isSilenced || !isInhibited(alert, [alert])) return []
    return { alert: alert.key, target: alert.target, severity: alert.severity }
  })
}

/** Gives an alert that still fires its current value and evidence, so that all figures are of the same time. */
function withCurrentValue(update: AlertUpdate, lives: ReadonlyMap<string, LiveAlert>): AlertUpdate {
  const { notification } = update
  if (hasEnded(notification)) return update
  const live = lives.get(nameOf(notification))
  if (live === undefined || live.instance.state === 'pending') return update
  const { kind, severity, at, since, firingSince, threshold, asOf } = notification
  const isOld = asOf !== undefined && live.instance.evaluatedAt <= asOf
  const latest = { ...alertOf(live), kind, severity, at, since, firingSince, threshold, ...(isOld && { asOf }) }
  return { ...update, notification: latest }
}

function silencedAmong(incident: Incident | undefined, { silences }: Moment): AlertMessage['silenced'] {
  return (incident?.firing ?? []).flatMap((alert) => {
    const own = silences.filter(({ match }) => matches(match, alert))
    const [silence] = own.toSorted((a, b) => b.until - a.until)
    if (silence === undefined) return []
    const { until, reason, author } = silence
    return { alert: alert.key, target: alert.target, until, reason, ...(author !== undefined && { author }) }
  })
}
