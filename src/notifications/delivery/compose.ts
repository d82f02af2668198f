import { alertOf, nameOf, type Alert } from '../../alerts/alert.ts'
import type { Incident } from '../../alerts/incidents.ts'
import { matches } from '../../alerts/match.ts'
import { bySeverity, isMoreSevere, type Severity } from '../../alerts/match-keys.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { isBeyond } from '../../alerts/signal.ts'
import { begunAsTold, shareOf } from '../../history/told-incidents.ts'
import type { ToldGroup } from '../../store/store.ts'
import type { Group } from '../grouping.ts'
import type { AlertMessage, AlertUpdate, FlappedAlert, InhibitedAlert } from '../message.ts'
import { groupLinks, linksOf, withRunbook } from '../text/links.ts'
import { isKnown, latestOf, type Composed, type ReadyAlert } from './waiting-alert.ts'
import type { Inhibited } from './suppress.ts'
import type { Moment } from './moment.ts'
import { FIRST_GROWTH, intervalAfter, lasting } from './wait.ts'

/** Composes one message of all ready alerts, with their current values, and notes what it says of their group. */
export function compose(group: Group, alerts: readonly ReadyAlert[], moment: Moment): Composed {
  const told = lasting(moment, group.key, alerts)
  const message = messageOf({ group, alerts, incident: moment.incident(group.key), told }, moment)
  const entries = alerts.flatMap((alert) => alert.entries)
  return { subject: group.key, entries, message, told: toldBy(group, message, told, moment) }
}

/** What a message is about: the changes of a group, all that fires in it, and what the receiver was told of that. */
type Content = {
  group: Pick<Group, 'labels' | 'route'>
  alerts: readonly ReadyAlert[]
  incident: Incident | undefined
  told: ToldGroup | undefined
}

/** The message about a group as it is now. Firing alerts come first, the worst of them first. */
export function messageOf(content: Content, moment: Moment): AlertMessage {
  const { alerts: ready, told } = content
  const incident = content.incident && asTold(content.incident, told)
  const firing = incident?.firing ?? []
  const alerts = updatesIn(ready, moment)
  return {
    ...aboutGroup({ ...content, incident }, moment),
    begun: told?.begun ?? Math.min(...ready.flatMap(({ entries }) => entries.map((entry) => entry.content.at))),
    most: mostTold(content, incident),
    posted: told?.posted,
    isWorse: told !== undefined && incident !== undefined && isMoreSevere(incident, told),
    mayBePosted: ready.some(({ entries }) => entries.some(({ claimed }) => claimed)),
    alerts,
    unchanged: unchangedIn(firing, ready.map(latestOf), moment),
    flapped: ready.flatMap(({ merged }) => ('times' in merged ? withLinks(merged, moment) : [])),
    silenced: silencedAmong(firing, moment),
    inhibited: inhibitedBy(alerts, moment),
  }
}

/** On how many targets the receiver was told it is at most; nothing of a new incident. */
const mostTold = ({ told, incident }: Content, said: Incident | undefined) =>
  said !== undefined && said === incident ? undefined : (told?.most ?? told?.targets)

/**
 * An incident for a receiver that knows it: what fires on fewer targets than that receiver was told does not grow. It shrinks, unless it
 * is more severe or a larger share fails.
 */
function asTold(incident: Incident, told: ToldGroup | undefined): Incident {
  const begun = told === undefined ? incident : begunAsTold(incident, told)
  if (told === undefined || begun === incident) return incident
  const { course, targets: { firing } } = begun // oxfmt-ignore
  const known = withLastShare(begun, told)
  if (told.targets <= firing)
    return course === 'lasts' && firing >= FIRST_GROWTH * told.targets ? { ...known, course: 'grows' } : known
  return {
    ...known,
    ...(!isWorse(incident, told) && { told: told.targets }),
    course: course === 'grows' ? 'lasts' : course,
  }
}

/** With the share of failed calls that was told last. */
function withLastShare(incident: Incident, { at, was }: ToldGroup): Incident {
  const { calls } = incident
  if (calls === undefined || was?.subject !== shareOf(incident)) return incident
  return { ...incident, calls: { ...calls, told: was.share == null ? undefined : { share: was.share, at } } }
}

/** Whether an incident is more severe than a receiver was told, or a larger share fails. */
function isWorse(incident: Incident, { severity, was }: ToldGroup): boolean {
  const { calls } = incident
  const isSame = calls !== undefined && was?.subject === shareOf(incident)
  return isMoreSevere(incident, { severity }) || (isSame && calls.failed / calls.total > (was.share ?? 1))
}

/** What a message says of its group. */
function aboutGroup({ group, alerts, incident, told }: Content, { targets, publicUrl }: Moment) {
  const changes = alerts.map(latestOf)
  // An alert may recover before it is told.
  const untold = alerts.filter((each) => !isKnown(each)).map(latestOf)
  const said = incident === undefined ? changes : [incident, ...untold.filter((one) => !hasEnded(one))]
  const [worst = told] = said.toSorted(bySeverity)
  const [target, ...others] = new Set([...changes, ...(incident?.firing ?? [])].map((one) => one.target))
  const hasLinks = publicUrl !== undefined && target !== undefined
  return {
    kind: 'alerts' as const,
    group: group.labels,
    route: group.route,
    target: others.length === 0 ? target : undefined,
    severity: worst!.severity,
    incident,
    targets,
    ...(hasLinks && { links: groupLinks(incident?.firing ?? changes, group.labels, publicUrl, incident?.worst) }),
  }
}

/** What the receiver knows after a message. */
function toldBy(group: Group, message: AlertMessage, told: ToldGroup | undefined, moment: Moment): ToldGroup {
  const { incident, begun, posted } = message
  const { calls, targets: { firing } = { firing: 0 } } = incident ?? {}
  const { told: all, now } = moment
  return {
    at: now,
    begun,
    interval: intervalAfter(told, group, moment),
    hasGrown:
      told !== undefined && message.most !== undefined && (told.hasGrown || firing >= FIRST_GROWTH * told.targets),
    begunAgain: told?.begunAgain ?? againAfter(all.get(group.key), group.interval, now),
    targets: firing,
    severity: severityOf(message),
    most: Math.max(firing, message.most ?? 0),
    ...(incident && { since: incident.since, ends: incident.course === 'ends' }),
    ...(calls && { was: { subject: shareOf(incident!), before: calls.before, share: calls.failed / calls.total } }),
    posted,
  }
}

/** The highest severity of what a message says fires. The incident may have a more severe alert that is silenced or inhibited. */
function severityOf({ alerts, unchanged, severity }: AlertMessage): Severity {
  const told = [...alerts, ...unchanged].map(({ notification }) => notification).filter((one) => !hasEnded(one))
  return told.toSorted(bySeverity)[0]?.severity ?? severity
}

/** How often the group began to fire again, soon after the message before. */
function againAfter(before: ToldGroup | undefined, interval: number, now: number): number {
  return before !== undefined && now - before.at < 2 * interval ? before.begunAgain + 1 : 0
}

/** The changes in a message, with their current values. */
function updatesIn(ready: readonly ReadyAlert[], moment: Moment): AlertUpdate[] {
  const current = ready.flatMap(({ merged, freeSince }) => {
    if ('times' in merged) return []
    const { notification: change } = merged
    const silence = moment.expired.find(({ match, until }) => until > change.at && matches(match, change))
    return { ...withCurrentValue(merged, moment), freeSince, silencedUntil: silence?.until }
  })
  const { firing = [], ended = [] } = Object.groupBy(current, ({ notification }) =>
    hasEnded(notification) ? 'ended' : 'firing',
  )
  return [...worstFirst(firing), ...worstFirst(ended)].map((update) => withLinks(update, moment))
}

/** What fires in the group, was notified before, and nothing suppresses. */
function unchangedIn(firing: readonly Alert[], changes: readonly Notification[], moment: Moment): AlertUpdate[] {
  const { now, active, inhibitorsOf, waiting } = moment
  const changed = new Set(changes.map(nameOf))
  return firing.flatMap((alert) => {
    if (waiting.has(nameOf(alert)) || changed.has(nameOf(alert)) || inhibitorsOf(alert).length > 0) return []
    if (active.some(({ match }) => matches(match, alert))) return []
    return withLinks({ notification: { ...alert, kind: 'firing' as const, at: now }, flaps: 0 }, moment)
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

function withLinks<T extends AlertUpdate | FlappedAlert>(change: T, { publicUrl }: Moment): T {
  if (publicUrl === undefined) return change
  const notification = withRunbook(change.notification, publicUrl)
  return { ...change, notification, links: linksOf(notification, publicUrl) }
}

/** Firing alerts that are not notified because those among the given alerts that fire inhibit them. */
function inhibitedBy(updates: readonly AlertUpdate[], { alerts, silences, inhibitorsOf }: Moment): InhibitedAlert[] {
  const notified = new Set(updates.flatMap(({ notification: one }) => (hasEnded(one) ? [] : nameOf(one))))
  /** Whether one of the given alerts inhibits this one, directly or through another alert that it inhibits. */
  const isInhibited = (alert: Inhibited, passed: readonly string[]): boolean =>
    inhibitorsOf(alert).some((one) => {
      const name = nameOf(one)
      return notified.has(name) || (!passed.includes(name) && isInhibited(one, [...passed, name]))
    })
  return alerts.flatMap((live) => {
    const alert = alertOf(live)
    const isLive = live.instance.state !== 'pending' && !notified.has(nameOf(alert))
    const isSilenced = silences.some(({ match }) => matches(match, alert))
    if (!isLive || isSilenced || !isInhibited(alert, [nameOf(alert)])) return []
    return { alert: alert.key, target: alert.target, severity: alert.severity }
  })
}

/** Gives an alert that still fires its current value and evidence, so that all figures are of the same time. */
function withCurrentValue(update: AlertUpdate, moment: Moment): AlertUpdate {
  const { notification } = update
  const live = moment.live(notification)
  if (hasEnded(notification) || live === undefined || live.instance.state === 'pending') return update
  const { kind, severity, at, since, firingSince, threshold, asOf } = notification
  const isOld = asOf !== undefined && live.instance.evaluatedAt <= asOf
  const latest = { ...alertOf(live), kind, severity, at, since, firingSince, threshold, ...(isOld && { asOf }) }
  return { ...update, notification: latest }
}

function silencedAmong(firing: readonly Alert[], { silences }: Moment): AlertMessage['silenced'] {
  return firing.flatMap((alert) => {
    const [silence] = silences.filter(({ match }) => matches(match, alert)).toSorted((a, b) => b.until - a.until)
    if (silence === undefined) return []
    const { until, reason, author } = silence
    return { alert: alert.key, target: alert.target, until, reason, ...(author !== undefined && { author }) }
  })
}
