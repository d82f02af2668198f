import type { Clock } from '../../clock/clock.ts'
import { hasEnded } from '../../alerts/notification.ts'
import type { GroupOf } from '../grouping.ts'
import { entriesOf, type ReadyAlert, type Stage } from './batch.ts'
import { mergeChanges } from './merge-changes.ts'

/**
 * When the last message of each group was sent (monotonic seconds), and its alerts whose firing the receiver was told of. A
 * group lives while there are any. Changed in place. A process that starts knows of no groups.
 */
export type SentGroups = Map<string, { at: number; firing: ReadonlySet<string> }>

/**
 * The first alert of a group waits for others, and is sent together with younger ones. While the group lives, a change also waits
 * for others, and for the interval after the last message. Everything else is sent at once. Alerts that resolved before the wait
 * ended are discarded, and delay nothing.
 */
export function wait(sent: SentGroups, clock: Pick<Clock, 'monotonic'>): Stage {
  return (batch, { now, discarded }) => {
    if (batch.kind !== 'alerts') return batch
    const { group } = batch
    const all = batch.alerts.map((alert): ReadyAlert => ({ alert, merged: mergeChanges(alert, group.wait) }))
    const hasWaited = ({ alert }: ReadyAlert) => {
      const age = now - alert.changes[0]!.at
      // If the clock was set back since, nobody knows how long the alert has waited.
      return age < 0 || age >= group.wait
    }
    const timing = { ...group, sinceLast: clock.monotonic() - (sent.get(group.key)?.at ?? NaN) }
    const unnotified = readyOf(all, hasWaited, timing).filter(({ merged }) => merged.kind === 'nothing')
    // Entries that the message does not contain are discarded, not claimed: a claimed entry counts as delivered.
    discarded.push(...entriesOf(unnotified.map(({ alert }) => alert)))
    // The others wait as if these had never been: an alert that is discarded makes no message due.
    const others = all.filter((each) => !unnotified.includes(each))
    const ready = readyOf(others, hasWaited, timing)
    return ready.length === 0 ? undefined : { kind: 'ready', group, alerts: ready }
  }
}

/** @param sinceLast seconds since the last message of the group; NaN where it does not live */
function readyOf(
  all: readonly ReadyAlert[],
  hasWaited: (alert: ReadyAlert) => boolean,
  { interval, sinceLast }: { interval: number; sinceLast: number },
): readonly ReadyAlert[] {
  if (!Number.isNaN(sinceLast)) return sinceLast >= interval && all.some(hasWaited) ? all : []
  if (all.some((each) => isNew(each) && hasWaited(each))) return all
  return all.filter((each) => !isNew(each) || hasWaited(each))
}

function isNew({ merged }: ReadyAlert): boolean {
  return merged.kind === 'update' && merged.isNew
}

/** Notes what was sent of a group. */
export function noteSent(sent: SentGroups, clock: Pick<Clock, 'monotonic'>, groupOf: GroupOf): Stage {
  return (batch) => {
    if (batch.kind !== 'attempted' || batch.delivery.outcome === 'retried') return batch
    const { message } = batch.delivery
    if (message?.kind !== 'alerts') return batch
    const changes = [...message.alerts, ...message.flapped].map(({ notification }) => notification)
    if (changes[0] === undefined) return batch
    const { key, interval } = groupOf(changes[0])
    if (interval === 0) return batch
    const firing = new Set(sent.get(key)?.firing)
    for (const { notification } of message.alerts) {
      const name = JSON.stringify([notification.target, notification.key])
      if (hasEnded(notification)) firing.delete(name)
      else firing.add(name)
    }
    if (firing.size === 0) sent.delete(key)
    else sent.set(key, { at: clock.monotonic(), firing })
    return batch
  }
}
