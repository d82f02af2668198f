import type { Clock } from '../../clock/clock.ts'
import { placeOf } from '../../alerts/alert.ts'
import { isMoreSevere } from '../../alerts/match-keys.ts'
import { hasEnded } from '../../alerts/notification.ts'
import { isKnownTo } from '../../history/told-incidents.ts'
import type { ToldGroup } from '../../store/store.ts'
import type { Group } from '../grouping.ts'
import { latestOf, isKnown, mergeChanges, type Batch, type ReadyAlert, type WaitingAlert } from './waiting-alert.ts'
import type { Moment } from './moment.ts'

/** How long the first alert of a group waits, unless it is configured (seconds): for the polls of all targets. */
const WAIT = { least: 20, most: 30, afterPoll: 5 } as const

/** The age (seconds) of what has this name. Call it in each round: what was not asked for in a round is forgotten. */
export type Age = (name: string, at: number) => number

/**
 * Ages by the monotonic clock, from when this process first saw each thing. Its age at that time is by the host's clock, but a thing that
 * the previous round did not see cannot be older than that round, whatever the clock of another host has stamped.
 */
export function newAges({ monotonic, wall }: Pick<Clock, 'monotonic' | 'wall'>) {
  let begun = new Map<string, number>()
  let last = -Infinity
  return (): Age => {
    const [before, previous] = [begun, last]
    begun = new Map()
    last = monotonic()
    return (name, at) => {
      const newest = Math.min(Math.max(0, wall() - at), monotonic() - previous)
      const since = before.get(name) ?? begun.get(name) ?? monotonic() - newest
      begun.set(name, since)
      return monotonic() - since
    }
  }
}

/** What the receiver was told of a group, if something of that still fires, or its end waits. */
export function lasting(
  { told, incident }: Moment,
  group: string,
  alerts: readonly WaitingAlert[],
): ToldGroup | undefined {
  const before = told.get(group)
  if (before === undefined || before.targets === 0) return undefined
  return isKnownTo(before, incident(group) ?? { firing: [] }) || alerts.some(isKnown) ? before : undefined
}

/**
 * The alerts of a group that go out in this round. What needs no message is discarded first, and delays nothing. By what the receiver was
 * told of the group:
 *
 * | Told of | What goes out |
 * |---|---|
 * | an incident that still fires, or whose end waits | all, if one of the alerts is news, has waited, and the interval is over, but on one target where all that fires recovers no end that is newer than an interval; all at once, if the incident has grown, became more severe, or is over |
 * | an incident that ended less than an interval ago, and has begun again too often | nothing |
 * | nothing, or an incident that is over | all, once a new alert has waited for others; before that, only the ends of alerts that were told of, and after the interval those that came and went |
 */
export function wait({ group, alerts }: Batch, moment: Moment): readonly ReadyAlert[] {
  const all = alerts.flatMap((alert): ReadyAlert | [] => {
    const merged = mergeChanges(alert)
    if (merged === undefined) moment.discarded.push(...alert.entries)
    return merged === undefined ? [] : { ...alert, merged }
  })
  const { key, interval, wait: least = waitFor(alerts, moment) } = group
  const told = lasting(moment, key, alerts)
  const before = moment.told.get(key)
  const sinceLast = before === undefined ? Infinity : moment.toldAge(`${before.at}`, before.at)
  const ageOf = waitedBy(alerts, told, moment)
  const hasWaited = (alert: ReadyAlert) => ageOf(alert) >= least
  if (told !== undefined && interval > 0) {
    const newest = Math.min(...all.filter((each) => !isUntold(each)).map(ageOf))
    const isDue =
      mayTellAgain(newest, told, group, moment) && all.some((each) => hasWaited(each) && isNews(each, told, interval))
    return isDue || hasGrown(all.filter(isUntold), told, firingIn(group, moment), sinceLast >= least) ? all : []
  }
  const isSoon = sinceLast < interval
  if (isSoon && before !== undefined && hasFlapped(before, all)) return []
  if (all.some((each) => isNew(each) && hasWaited(each))) return all
  return all.filter((each) => ('times' in each.merged ? !isSoon && hasWaited(each) : !isNew(each) || hasWaited(each)))
}

/** On how many targets alerts of a group fire. */
const firingIn = ({ key }: Group, { incident }: Moment) => incident(key)?.targets.firing ?? 0

/** How long an alert has waited (seconds). One that became more severe waits no longer for that. */
function waitedBy(alerts: readonly WaitingAlert[], told: ToldGroup | undefined, { age }: Moment) {
  const ageOf = ({ entries }: WaitingAlert, i = 0) => age(String(entries.at(i)!.id), entries.at(i)!.content.at)
  const onPlace = Map.groupBy(alerts, (alert) => placeOf(latestOf(alert)))
  return (alert: WaitingAlert): number => {
    // The end of an alert that flapped before, or was inhibited, may be the first of many.
    const isEnding = hasEnded(latestOf(alert)) && told !== undefined
    const ends = [alert, ...onPlace.get(placeOf(latestOf(alert)))!.filter(isKnown)]
    const own = isEnding ? Math.min(...ends.map((one) => ageOf(one, -1))) : ageOf(alert)
    return Math.max(own, ...(alert.inhibits ?? []).map((one) => ageOf(one)))
  }
}

/** From when the interval counts after a message that is sent now (UNIX seconds). A message about growth does not begin it again. */
export function intervalAfter(told: ToldGroup | undefined, group: Group, moment: Moment): number {
  return told === undefined || isIntervalOver(told, group, moment) ? moment.now : told.interval
}

/**
 * Whether the interval is over. While all that fires on its only target is back within its threshold, that is an interval after the latest
 * end, so that one message tells of all.
 *
 * @param newest how long the newest change has waited of what the receiver knows (seconds)
 */
function mayTellAgain(newest: number, told: ToldGroup, group: Group, moment: Moment): boolean {
  const endsSoon = firingIn(group, moment) === 1 && moment.incident(group.key)?.course === 'ends'
  return isIntervalOver(told, group, moment) && (!endsSoon || newest >= group.interval)
}

function isIntervalOver(told: ToldGroup, { interval }: Group, { toldAge }: Moment): boolean {
  return toldAge(`${told.interval}`, told.interval) >= interval
}

/** An incident that begins again within an interval after its end is told at once so often, and then once an interval. */
const MOST_AGAIN = 2
/** Whether an incident began again too often for another message, unless it is more severe than before. */
function hasFlapped(before: ToldGroup, all: readonly ReadyAlert[]): boolean {
  const isWorse = all.some((each) => isNew(each) && isMoreSevere(latestOf(each), before))
  return before.begunAgain >= MOST_AGAIN && !isWorse
}

/** Growth is told at once on so many times the targets of the message before: at first, and after that was told. */
export const FIRST_GROWTH = 2
const LATER_GROWTH = 8

/**
 * Whether the incident is more severe than the receiver was told, over, or much larger. So an incident that grows by one target after
 * the other is few messages.
 */
function hasGrown(added: readonly ReadyAlert[], told: ToldGroup, firing: number, mayGrow: boolean): boolean {
  if (firing === 0 || added.some((alert) => isMoreSevere(latestOf(alert), told))) return true
  const growth = told.hasGrown ? LATER_GROWTH : FIRST_GROWTH
  return added.length > 0 && firing >= growth * told.targets && mayGrow
}

/**
 * On several targets three things are no news: that an alert came and went, that one of which the receiver was told fires again, and that
 * one still fires soon after a message that said so.
 */
function isNews(each: ReadyAlert, { targets, at }: ToldGroup, interval: number): boolean {
  if (targets === 1) return true
  if ('times' in each.merged) return false
  const { kind, at: changedAt } = each.merged.notification
  if (kind === 'reminder') return changedAt - at >= interval
  return kind !== 'firing' || isUntold(each)
}

function isNew(alert: ReadyAlert): boolean {
  return !hasEnded(latestOf(alert)) && !isKnown(alert)
}

/** Whether an alert fires that the receiver may not know of: a claimed entry may not have arrived. */
function isUntold(each: ReadyAlert): boolean {
  return isNew(each) || (!hasEnded(latestOf(each)) && each.entries[0]!.claimed)
}

/** Until each target of the group was polled, by the slowest of their polls. */
function waitFor(alerts: readonly WaitingAlert[], { live }: Moment): number {
  const gaps = alerts.flatMap((alert) => live(latestOf(alert))?.instance.lastGaps ?? [])
  return Math.min(WAIT.most, Math.max(WAIT.least, Math.max(0, ...gaps) + WAIT.afterPoll))
}
