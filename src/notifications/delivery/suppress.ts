import type { LiveAlert } from '../../alerts/alert-instance.ts'
import { matches } from '../../alerts/match.ts'
import type { Notification } from '../../alerts/notification.ts'
import { lastTime } from '../../clock/calendar.ts'
import type { NotifyConfig } from '../notify-section.ts'
import { entriesOf, latestOf, type Stage } from './batch.ts'
import { isKnown, hasEnded } from './merge-changes.ts'

/** A recurring time in which some alerts are not notified. */
export type Mute = NotifyConfig['mutes'][number]

/**
 * Alerts wait while a mute or a silence matches them, and while the `poll_age` alert of their target inhibits them.
 * Evaluation continues meanwhile; what still fires afterwards is notified then. What flapped while it was muted or silenced
 * is discarded.
 */
export function suppress(mutes: readonly Mute[]): Stage {
  return (batch, { now, silences, alerts }) => {
    if (batch.kind !== 'alerts') return batch
    const active = [...mutes.filter((mute) => isActive(mute, now)), ...silences]
    const isMatched = (change: Notification) => active.some(({ match }) => matches(match, change))
    const inhibited = new Set(alerts.filter(isInhibiting).map(({ target }) => target))
    const isSuppressed = (change: Notification) =>
      isMatched(change) || (change.signal.name !== 'poll_age' && inhibited.has(change.target))

    const flapped = batch.alerts.filter(
      (alert) => isMatched(latestOf(alert)) && hasEnded(latestOf(alert)) && !isKnown(alert),
    )
    if (flapped.length > 0) return { kind: 'discarded', entries: entriesOf(flapped) }
    const others = batch.alerts.filter((alert) => !isSuppressed(latestOf(alert)))
    return others.length === 0 ? undefined : { kind: 'alerts', alerts: others }
  }
}

function isActive({ start, timezone, duration }: Mute, now: number): boolean {
  const began = lastTime(start, timezone, now)
  return began !== undefined && now < began + duration
}

function isInhibiting({ instance }: LiveAlert): boolean {
  return instance.rule.signal.name === 'poll_age' && instance.state !== 'pending'
}
