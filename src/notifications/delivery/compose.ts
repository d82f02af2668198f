import { nameOf, type Alert } from '../../alerts/alert.ts'
import { sharedBy, type FleetTarget } from '../../alerts/fleet.ts'
import type { Incident } from '../../alerts/incidents.ts'
import { matches } from '../../alerts/match.ts'
import { bySeverity, type AlertMatch } from '../../alerts/match-keys.ts'
import { hasEnded, notificationOf, type Notification } from '../../alerts/notification.ts'
import { isBeyond } from '../../alerts/signal.ts'
import type { GroupOf, Routable } from '../grouping.ts'
import type { AlertMessage, AlertUpdate, FlappedAlert, InhibitedAlert } from '../message.ts'
import { groupLinks, linksOf, withRunbook } from '../text/links.ts'
import { newsOf, type Grouped, type Unrouted } from './groups.ts'
import { notesOf, type Known, type Telling } from './notified.ts'
import type { Ended, Live, Now } from './now.ts'
import type { Suppressing } from './suppress.ts'

export type ComposeOptions = {
  now: Now
  suppressing: Suppressing
  groupOf: GroupOf
  /** The receiver's name. */
  receiver: string
  /** Whether it was notified of an alert with this name, and not of its end. */
  knows: (name: string) => boolean
  /** Which alerts it is notified of. */
  isSent: (alert: Routable) => boolean
  /** How many targets there are. */
  targets: number
  /** All targets, as they are configured. */
  fleet: () => readonly FleetTarget[]
  /** What was evaluated before this time (UNIX seconds) is old. */
  freshFrom: number
  /** The page's address for users, if known. */
  publicUrl: string | undefined
}

/** A message, and what the receiver knows of the group once it has accepted it. */
export type Composed = { message: AlertMessage; telling: Telling }

/** What identifies a message, the incident that it goes on with, and since when attempts to send it have failed. */
export type Sent = Pick<AlertMessage, 'id' | 'about' | 'thread' | 'merged'> & { failingSince: number | undefined }

/** Composes the message about a group as it is now; an edit of it is the same. Pure. */
export function compose(grouped: Grouped, sent: Sent, options: ComposeOptions): Composed {
  const { group, firing, untold, unanswered } = grouped
  const { now, targets, freshFrom, groupOf } = options
  const news = newsOf(grouped)
  const over = new Set(grouped.heard.flatMap((one) => (one.ended === undefined ? [] : one.episode)))
  const flaps = Map.groupBy(untold, ({ name }) => name)
  const updateFor = (one: Live) =>
    firingUpdate(one, { known: news.known.get(one.name), untold: flaps.get(one.name) }, options)
  const shown = sent.about === 'reminder' || sent.about === 'edit' ? firing : news.begun
  const changes = [...shown.map(updateFor), ...news.ended.flatMap((one) => endOf(one, over, options) ?? [])]
  const alerts = worstFirst(changes).map((one) => withLinks(one, options))
  const told = new Set(changes.map(({ notification }) => nameOf(notification)))
  const others = firing.filter(({ name }) => !told.has(name) && news.known.has(name))
  // What was is told alone while what fires is suppressed: then nothing that fires is told.
  const isLive = sent.about !== 'was' || news.open.length + unanswered.length > 0
  const incident = isLive ? now.incident(group, groupOf, { of: targets, freshFrom, fleet: options.fleet() }) : undefined
  const before = new Set(news.open.map(({ target }) => target)).size
  const all = [...alerts.map(({ notification }) => notification), ...untold.map(({ change }) => change)]
  const whole = sent.about === 'ended' && incident === undefined ? wholeOf(grouped, sent, options) : undefined
  const message: AlertMessage = {
    kind: 'alerts',
    ...sent,
    unanswered: unanswered.map(({ id, at }) => ({ id, at })),
    ...aboutGroup(group.labels, all, incident, options),
    route: group.route,
    incident: incident && { ...incident, ...(before > 0 && { told: before }) },
    ...(whole && { whole, target: undefined }),
    alerts,
    unchanged: others.map((one) => withLinks(updateFor(one), options)),
    flapped: flappedIn(untold, told).map((one) => withLinks(one, options)),
    silenced: silencedAmong(incident?.firing ?? [], options),
    inhibited: inhibitedBy(alerts, options),
  }
  return {
    message,
    telling: { ...tellingOf(grouped, news, sent), notices: noticesOf(message, grouped, news, options) },
  }
}

/** The incident that ends, of which the ends of some targets may have been told before; undefined if it was on one target. */
function wholeOf({ heard }: Grouped, { thread }: Sent, { now: { at, ended }, fleet }: ComposeOptions) {
  const own = heard.filter((one) => one.thread === thread)
  const targets = new Set(own.map(({ target }) => target))
  if (targets.size < 2) return undefined
  const ends = own.map((one) => ended.get(one.episode)?.change.at ?? one.ended ?? at)
  const since = Math.min(...own.map(({ firingSince }) => firingSince))
  return { targets: targets.size, shared: sharedBy(targets, fleet()), since, until: Math.max(...ends) }
}

type News = ReturnType<typeof newsOf>

function tellingOf(
  { heard, firing, untold }: Grouped,
  { begun, ended }: News,
  { id, thread }: Sent,
): Omit<Telling, 'notices'> {
  return {
    id,
    thread,
    heard,
    begun: begun.map(({ alert }) => alert),
    firing: firing.map(({ alert }) => alert),
    ended,
    was: untold.map(({ change }) => change),
  }
}

/** What the history of alerts has of the message. An edit tells ends only. */
function noticesOf(
  { about, alerts }: AlertMessage,
  { firing, untold, unanswered }: Grouped,
  { known, ended }: News,
  { now, receiver }: ComposeOptions,
): Telling['notices'] {
  const endOfEpisode = (one: Known | undefined) => (one && now.ended.get(one.episode)?.change) ?? []
  const begins = alerts.map(({ notification }) => notification).filter((one) => !hasEnded(one))
  const told = new Set(begins.map(nameOf))
  // What fires again meanwhile ended, and the message says so by showing what is.
  const again = firing.flatMap(({ name, episode, alert }) => {
    const before = known.get(name)
    if (before === undefined || before.episode === episode || told.has(name)) return []
    return [endOfEpisode(before), { ...alert, kind: 'firing' as const }].flat()
  })
  const ends = ended.flatMap(endOfEpisode)
  // An attempt without an answer may have said so; nothing else will.
  const [names, episodes] = [new Set([...firing, ...ended].map(({ name }) => name)), new Set(ended.map(({ episode }) => episode))] // oxfmt-ignore
  const maybe = unanswered.flatMap(({ begun }) => begun)
  const earlier = maybe.filter(({ name, episode }) => names.has(name) && !episodes.has(episode)).flatMap(endOfEpisode)
  const own =
    about === 'edit' ? ends : [...begins, ...ends, ...earlier, ...untold.map(({ change }) => change), ...again]
  const kindOf = ({ kind }: Pick<Notification, 'kind'>) => (about === 'reminder' && kind === 'firing' ? about : kind)
  return (at) => own.flatMap((one) => notesOf([one], { receiver, kind: kindOf(one), at }))
}

/** The message that these alerts, which still fire, are no longer sent to the receiver. */
export function composeUnrouted(alerts: readonly Unrouted[], sent: Sent, options: ComposeOptions): AlertMessage {
  const updates = alerts.map(({ live }) =>
    withLinks(updateOf(live.alert, live, options.now.at, options.freshFrom), options),
  )
  const { labels, route } = options.groupOf(alerts[0]!.live.alert)
  const changes = updates.map(({ notification }) => notification)
  const nothing = { unanswered: [], incident: undefined, unchanged: [], flapped: [], silenced: [], inhibited: [] }
  const about = aboutGroup(labels, changes, undefined, options)
  return { kind: 'alerts', ...sent, ...nothing, ...about, route, alerts: updates }
}

/** What a message says of its group. @param changes all that it tells of, also what began and ended */
function aboutGroup(
  labels: AlertMatch,
  changes: readonly Notification[],
  incident: Incident | undefined,
  options: ComposeOptions,
) {
  const { targets, publicUrl } = options
  const firing = incident?.firing ?? []
  const said = incident === undefined ? changes : [incident, ...changes.filter((one) => !hasEnded(one))]
  const [target, ...others] = new Set([...changes, ...firing].map((one) => one.target))
  const linked = firing.length > 0 ? firing : changes
  const hasLinks = publicUrl !== undefined && linked.length > 0
  return {
    group: labels,
    target: others.length === 0 ? target : undefined,
    severity: said.toSorted(bySeverity)[0]?.severity ?? 'info',
    elsewhere: incident === undefined ? elsewhereOn(changes, options) : [],
    targets,
    ...(hasLinks && { links: groupLinks(linked, labels, publicUrl, incident?.worst) }),
  }
}

/** What else fires on the targets of what is over, and is notified to the receiver, the most severe first: the end of that will be, too. */
function elsewhereOn(over: readonly Notification[], { now, isSent, suppressing, knows }: ComposeOptions): Alert[] {
  const on = new Set(over.map(({ target }) => target))
  const isSuppressed = ({ alert, instance }: Live) =>
    instance.evidence?.isQuiet === true || suppressing.at(alert, now.at).length > 0
  const isNotified = (live: Live) => isSent(live.alert) && (knows(live.name) || !isSuppressed(live))
  const firing = now.firing.filter((live) => on.has(live.alert.target) && isNotified(live))
  return firing.map(({ alert }) => alert).toSorted(bySeverity)
}

/** An alert that fires, with its current values. */
function updateOf(alert: Alert, { instance }: Pick<Live, 'instance'>, at: number, freshFrom: number): AlertUpdate {
  return {
    notification: notificationOf({ kind: 'firing' }, { target: alert.target, instance }, at, freshFrom),
    flaps: 0,
  }
}

/** The same, with how often it ended since the receiver heard of it, and until when it was silenced. */
function firingUpdate(
  one: Live,
  { known, untold = [] }: { known: Known | undefined; untold: readonly Ended[] | undefined },
  { now: { at, ended, silences }, freshFrom }: ComposeOptions,
): AlertUpdate {
  const { alert } = one
  const isFirst = known === undefined
  const update = updateOf(alert, one, isFirst ? alert.firingSince : at, freshFrom)
  const silence = silences
    .filter(({ until }) => until <= at && until > alert.firingSince)
    .toSorted((a, b) => b.until - a.until)
    .find(({ match }) => matches(match, alert))
  const flaps = Number(known !== undefined && ended.has(known.episode)) + untold.length
  return { ...update, flaps, ...(silence && isFirst && { silencedUntil: silence.until }) }
}

/** The end of an alert that the receiver may know of. @param over the episodes whose ends it was told */
function endOf(
  { name, episode }: Known,
  over: ReadonlySet<string>,
  { now: { ended, endsOf }, suppressing }: ComposeOptions,
) {
  const isTold = ({ change }: Ended) => suppressing.freeSeconds(change, change.firingSince, change.at) > 0
  // It may have fired again and ended since.
  const ends = endsOf(name).filter((one) => one.episode === episode || (isTold(one) && !over.has(one.episode)))
  const last = ends.at(-1)
  const flaps = ends.filter(({ change }) => change.at > (ended.get(episode)?.change.at ?? 0)).length
  return last && { notification: last.change, flaps }
}

/** What began and ended untold, an alert each. Of one that the message tells of anyway, it is in that update. */
function flappedIn(untold: readonly Ended[], told: ReadonlySet<string>): FlappedAlert[] {
  const byName = Map.groupBy(untold.filter(({ name }) => !told.has(name)), ({ name }) => name) // oxfmt-ignore
  return [...byName.values()].map((own) => {
    const changes = own.map(({ change }) => change).toSorted((a, b) => a.at - b.at)
    const last = changes.at(-1)!
    return {
      notification: { ...last, kind: 'firing' as const, at: last.firingSince },
      times: changes.length,
      peak: changes.map(({ peak }) => peak).reduce((worst, value) => (isBeyond(last, value, worst) ? value : worst)),
      endedAt: last.at,
      ...(last.kind === 'expired' && { hasExpired: true }),
    }
  })
}

/** What fires first, the worst first by value or, of those that have ended, by peak; those of one rule can be compared. */
function worstFirst(updates: readonly AlertUpdate[]): AlertUpdate[] {
  const worst = ({ notification }: AlertUpdate) => (hasEnded(notification) ? notification.peak : notification.value)
  const isOver = ({ notification }: AlertUpdate) => Number(hasEnded(notification))
  return updates.toSorted((one, other) => {
    if (isOver(one) !== isOver(other)) return isOver(one) - isOver(other)
    if (one.notification.alert !== other.notification.alert || worst(one) === worst(other)) return 0
    return isBeyond(one.notification, worst(one), worst(other)) ? -1 : 1
  })
}

function withLinks<T extends AlertUpdate | FlappedAlert>(change: T, { publicUrl }: ComposeOptions): T {
  if (publicUrl === undefined) return change
  const notification = withRunbook(change.notification, publicUrl)
  return { ...change, notification, links: linksOf(notification, publicUrl) }
}

/** Firing alerts that are not notified because those of the message inhibit them, directly or through others. */
function inhibitedBy(updates: readonly AlertUpdate[], { now, suppressing }: ComposeOptions): InhibitedAlert[] {
  const told = updates.map(({ notification }) => notification).filter((one) => !hasEnded(one))
  const names = new Set(told.map(nameOf))
  const isInhibited = (alert: Alert, passed: readonly string[]): boolean =>
    suppressing.inhibitorsOf(alert).some((one) => {
      const name = nameOf(one)
      if (one.until !== undefined || passed.includes(name)) return false
      const live = now.live(name)
      return names.has(name) || (live !== undefined && isInhibited(live.alert, [...passed, name]))
    })
  return [...suppressing.inhibitable(told)].flatMap((one) => {
    const [name, live] = [nameOf(one), now.live(nameOf(one))]
    if (live === undefined || names.has(name) || !isInhibited(live.alert, [name])) return []
    if (suppressing.at(live.alert, now.at).some(({ by }) => by === 'silence')) return []
    return { alert: one.key, target: one.target, severity: one.severity }
  })
}

function silencedAmong(firing: readonly Alert[], { now: { at, silences } }: ComposeOptions): AlertMessage['silenced'] {
  const active = silences.filter(({ until }) => until > at).toSorted((a, b) => b.until - a.until)
  return firing.flatMap((alert) => {
    const silence = active.find(({ match }) => matches(match, alert))
    if (silence === undefined) return []
    const { until, reason, author } = silence
    return { alert: alert.key, target: alert.target, until, reason, ...(author !== undefined && { author }) }
  })
}
