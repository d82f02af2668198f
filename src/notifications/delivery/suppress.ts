import type { LiveAlert } from '../../alerts/alert-instance.ts'
import type { Suppression } from '../../alerts/episode.ts'
import { matches } from '../../alerts/match.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { lastTime } from '../../clock/calendar.ts'
import type { NotifyConfig } from '../notify-section.ts'
import { entriesOf, latestOf, type Moment, type Stage } from './batch.ts'
import type { Inhibitors } from './inhibition.ts'
import { isKnown } from './merge-changes.ts'
import type { Suppressed } from './note.ts'

/** A recurring time in which some alerts are not notified. */
export type Mute = NotifyConfig['mutes'][number]

export type SuppressOptions = { mutes: readonly Mute[]; inhibitorsAmong: Inhibitors }

/**
 * Alerts wait while a mute or a silence matches them, while the `poll_age` alert of their target fires, and while another alert
 * inhibits them (inhibition.ts).
 * Evaluation continues meanwhile; what still fires afterwards is notified then. What flapped while it was muted,
 * silenced or inhibited is discarded.
 *
 * @param note is called with all that is suppressed, before it waits
 */
export function suppress(
  { mutes, inhibitorsAmong }: SuppressOptions,
  note: (all: readonly Suppressed[]) => Promise<void>,
): Stage {
  return async (batch, moment) => {
    if (batch.kind !== 'alerts') return batch
    const suppressionsOf = suppressionsAt({ mutes, inhibitorsAmong }, moment)
    const alerts = batch.alerts.map((alert) => ({
      alert,
      change: latestOf(alert),
      by: suppressionsOf(latestOf(alert)),
    }))
    const suppressed = alerts.filter(({ by }) => by.length > 0)
    await note(suppressed)
    const flapped = suppressed.filter(
      // What had fired before it was inhibited is worth a word.
      ({ alert, change, by }) =>
        by.some(({ by: kind, since = -Infinity }) => kind !== 'poll_age' && since <= alert.changes[0]!.at) &&
        hasEnded(change) &&
        !isKnown(alert),
    )
    if (flapped.length > 0) return { kind: 'discarded', entries: entriesOf(flapped.map(({ alert }) => alert)) }
    const others = alerts.filter(({ by }) => by.length === 0).map(({ alert }) => alert)
    return others.length === 0 ? undefined : { kind: 'alerts', alerts: others }
  }
}

/** What suppresses a change now. */
function suppressionsAt(
  { mutes, inhibitorsAmong }: SuppressOptions,
  { now, silences, alerts }: Moment,
): (change: Notification) => Suppression[] {
  const active = [
    ...mutes.flatMap(({ match, start, timezone, duration }) => {
      const until = (lastTime(start, timezone, now) ?? -Infinity) + duration
      return now < until ? [{ match, by: 'mute' as const, until }] : []
    }),
    ...silences.map(({ match, id, until, reason }) => ({ match, by: 'silence' as const, until, silence: id, reason })),
  ]
  const unseen = unseenTargets(alerts)
  const inhibitorsOf = inhibitorsAmong(alerts)
  return (change) => [
    ...active.filter(({ match }) => matches(match, change)).map(({ match: _match, ...by }) => ({ ...by, at: now })),
    ...(change.signal.name !== 'poll_age' && unseen.has(change.target) ? [{ by: 'poll_age' as const, at: now }] : []),
    ...inhibitorsOf(change).map(({ target, key, firingSince }) => ({
      by: 'inhibition' as const,
      at: now,
      since: firingSince,
      alert: key,
      ...(target !== change.target && { target }),
    })),
  ]
}

/** The targets of whose calls nothing is known. All batches of a moment have the same alerts. */
function unseenTargets(alerts: readonly LiveAlert[]): ReadonlySet<string> {
  const unseen = knownUnseen.get(alerts) ?? new Set(alerts.filter(isUnseen).map(({ target }) => target))
  knownUnseen.set(alerts, unseen)
  return unseen
}

const knownUnseen = new WeakMap<readonly LiveAlert[], ReadonlySet<string>>()

/** Whether it says that nothing is known of its target's calls. */
function isUnseen({ instance }: LiveAlert): boolean {
  return instance.rule.signal.name === 'poll_age' && instance.state !== 'pending'
}
