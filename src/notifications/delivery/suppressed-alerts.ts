import { alertOf, nameOf, type Alert, type LiveAlert } from '../../alerts/alert.ts'
import { matches, type Silence } from '../../alerts/match.ts'
import { formatTime } from '../../text/format.ts'
import type { NotifyConfig } from '../notify-section.ts'
import { activeAt, inhibition } from './suppress.ts'

/** @param now UNIX seconds */
type Given = { notify: Pick<NotifyConfig, 'inhibit' | 'mutes'>; silences: readonly Silence[]; now: number }

/** The alerts that fire and are not notified now, by their names (alert.ts), with the reasons as sentences. */
export function suppressedAlerts(live: readonly LiveAlert[], { notify, silences, now }: Given) {
  const firing = live.filter(({ instance }) => instance.state !== 'pending').map(alertOf)
  const inhibitorsOf = inhibition(notify.inhibit)(live)
  const mutes = activeAt(now, notify.mutes, [])
  const unseen = new Set(firing.filter(({ signal }) => signal.name === 'poll_age').map(({ target }) => target))
  const reasonsOf = (alert: Alert) => [
    ...silences
      .filter(({ match }) => matches(match, alert))
      .map(({ id, until, reason }) => `silence ${id} until ${formatTime(until)}${reason === '' ? '' : `: ${reason}`}`),
    ...(mutes.some(({ match }) => matches(match, alert)) ? ['muted'] : []),
    ...inhibitorsOf(alert).map(({ key }) => `inhibited by ${key}`),
    ...(unseen.has(alert.target) && alert.signal.name !== 'poll_age' ? ['its target is not polled'] : []),
  ]
  const reasons = firing.map((alert) => [nameOf(alert), reasonsOf(alert)] as const)
  return new Map(reasons.filter(([, own]) => own.length > 0))
}
