import type { Clock } from '../../clock/clock.ts'
import { isMoreSevere } from '../../alerts/match-keys.ts'
import type { ToldGroup } from '../../store/store.ts'
import { entriesOf, latestOf, type Moment, type ReadyAlert, type Stage, type WaitingAlert } from './batch.ts'
import { mergeChanges } from './merge-changes.ts'

/** How long the first alert of a group waits, unless it is configured (seconds): for the polls of all targets. */
const WAIT = { least: 20, most: 30, afterPoll: 5 } as const

/**
 * How long ago something was (seconds), by the monotonic clock since this process saw it first. Until then, the host's clock counts,
 * unless it was set back, or another host's clock is ahead.
 */
export type Age = (name: string, at: number) => number

/** Forgets what was not asked for since it was called before. */
export function newAges({ monotonic, wall }: Pick<Clock, 'monotonic' | 'wall'>) {
  let begun = new Map<string, number>()
  return (): Age => {
    const before = begun
    begun = new Map()
    return (name, at) => {
      const since = before.get(name) ?? begun.get(name) ?? monotonic() - Math.max(0, wall() - at)
      begun.set(name, since)
      return monotonic() - since
    }
  }
}

/**
 * The first alert of a group waits for others, and is sent together with younger ones. While an alert of the group fires, changes
 * wait for the interval after the last message, unless the incident has grown: a more severe alert is sent at once, and many more
 * targets after the wait of the group. When nothing of the group fires any more, that is sent at once. Alerts that came and went are
 * sent together, after the wait and the interval. Those that need no message are discarded, and delay nothing.
 */
export const wait: Stage = (batch, moment) => {
  if (batch.kind !== 'alerts') return batch
  const { discarded } = moment
  const { group } = batch
  const all = batch.alerts.map((alert): ReadyAlert => ({ alert, merged: mergeChanges(alert) }))
  const told = moment.told.get(group.key)
  const seconds = group.wait ?? waitFor(batch.alerts, moment)
  const hasWaited = ({ alert }: ReadyAlert) => moment.age(String(alert.entries[0]!.id), alert.changes[0]!.at) >= seconds
  const timing = {
    wait: seconds,
    interval: group.interval,
    told,
    firing: moment.incident(group.key)?.targets.firing ?? 0,
    age: moment.age,
  }
  const unnotified = readyOf(all, hasWaited, timing).filter(({ merged }) => merged.kind === 'nothing')
  // Entries that the message does not contain are discarded, not claimed: a claimed entry counts as delivered.
  discarded.push(...entriesOf(unnotified.map(({ alert }) => alert)))
  // The others wait as if these had never been: an alert that is discarded makes no message due.
  const others = all.filter((each) => !unnotified.includes(each))
  const ready = readyOf(others, hasWaited, timing)
  return ready.length === 0 ? undefined : { kind: 'ready', group, alerts: ready }
}

type Timing = {
  wait: number
  interval: number
  /** What the receiver was told of the group; undefined if nothing of it fired then. */
  told: ToldGroup | undefined
  /** On how many targets alerts of the group fire. */
  firing: number
  age: Age
}

function readyOf(
  all: readonly ReadyAlert[],
  hasWaited: (alert: ReadyAlert) => boolean,
  timing: Timing,
): readonly ReadyAlert[] {
  const { interval, told, age } = timing
  const sinceLast = told === undefined ? Infinity : age(`told ${told.at}`, told.at)
  if (told !== undefined && told.targets > 0 && interval > 0) {
    const isDue = sinceLast >= interval && all.some(hasWaited)
    return isDue || hasGrown(all.filter(isNew), told, sinceLast, timing) ? all : []
  }
  if (all.some((each) => isNew(each) && hasWaited(each))) return all
  const mayFlap = sinceLast >= interval
  return all.filter((each) => {
    if (each.merged.kind === 'flapped') return mayFlap && hasWaited(each)
    return !isNew(each) || hasWaited(each)
  })
}

/**
 * Whether the incident is more severe than the receiver was told, over, or much larger: on twice as many targets after the first message,
 * on four times as many after the second, and so on. So an incident that grows by one target after the other is few messages.
 */
function hasGrown(added: readonly ReadyAlert[], told: ToldGroup, sinceLast: number, { wait, firing }: Timing): boolean {
  if (firing === 0 || added.some(({ alert }) => isMoreSevere(latestOf(alert), told))) return true
  return added.length > 0 && firing >= 2 ** told.messages * told.targets && sinceLast >= wait
}

function isNew({ merged }: ReadyAlert): boolean {
  return merged.kind === 'update' && merged.isNew
}

/** Until each target of the group was polled, by the slowest of their polls. */
function waitFor(alerts: readonly WaitingAlert[], { alerts: lives }: Moment): number {
  const waiting = new Set(alerts.map((alert) => `${latestOf(alert).target}\n${latestOf(alert).key}`))
  const gaps = lives.flatMap(({ target, instance: { key, lastGaps = [] } }) =>
    waiting.has(`${target}\n${key}`) ? lastGaps : [],
  )
  return Math.min(WAIT.most, Math.max(WAIT.least, Math.max(0, ...gaps) + WAIT.afterPoll))
}
