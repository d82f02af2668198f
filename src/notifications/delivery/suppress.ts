import { placeOf, alertOf, nameOf, subjectOf, type Alert, type LiveAlert } from '../../alerts/alert.ts'
import type { Suppression } from '../../alerts/episode.ts'
import { matches, silenceAt, valuesOf, type Silence } from '../../alerts/match.ts'
import { isMoreSevere, type AlertMatch } from '../../alerts/match-keys.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { lastTime } from '../../clock/calendar.ts'
import type { Outboxes } from '../../store/outbox.ts'
import type { OutboxEntry } from '../../store/store.ts'
import { formatTime } from '../../text/format.ts'
import type { NotifyConfig } from '../notify-section.ts'
import { latestOf, isKnown, unknownTimes, type WaitingAlert, type UnknownTime } from './waiting-alert.ts'
import type { Moment, Read } from './moment.ts'
import type { Suppressed } from './send-message.ts'

/** A recurring period in which matching alerts are not notified. */
export type Mute = NotifyConfig['mutes'][number]

/**
 * Alerts wait while a mute or a silence matches them, while the `poll_age` alert of their target fires, or while another
 * alert inhibits them; one on `request_errors` also while no request fails any more. Evaluation continues meanwhile. An alert that still
 * fires afterwards is notified then.
 * An alert that was muted, silenced or inhibited from its start to its end without a gap is discarded, even if callwatch
 * finds this out late.
 */
export async function suppress(waiting: readonly WaitingAlert[], moment: Moment): Promise<WaitingAlert[]> {
  const { now, mutes, suppressionsOf, live, past, age } = moment
  const hasErrors = waiting.some((alert) => latestOf(alert).signal.name === 'request_errors')
  const fired = hasErrors ? (await past()).fired : []
  // The requests of its window failed in an outage that is over.
  const wasUnseen = ({ target, signal }: Notification) =>
    signal.name === 'request_errors' &&
    fired.some((one) => one.signal.name === 'poll_age' && one.target === target && now - one.until! < signal.window)
  // None of its requests has failed lately: its outage is over, too, if it was too short for an alert on poll_age.
  const isQuiet = (alert: WaitingAlert) => live(latestOf(alert))?.instance.evidence?.isQuiet === true && !isKnown(alert)
  const alerts = waiting.map((alert) => {
    const change = latestOf(alert)
    return { alert, change, by: suppressionsOf(change, wasUnseen(change) && !isKnown(alert)) }
  })
  const times = waiting.flatMap(unknownTimes)
  const discarded = times.length === 0 ? [] : discardedOf(times, mutes, await past())
  moment.suppressed.push(...discarded, ...alerts.filter(({ by }) => by.length > 0))
  const removed = new Set<OutboxEntry>(discarded.flatMap(({ entries }) => entries))
  moment.discarded.push(...removed)
  const inhibited = Map.groupBy(
    alerts.filter(({ by }) => by.length > 0 && by.every((each) => each.by === 'inhibition')),
    ({ change }) => placeOf(change),
  )
  return alerts.flatMap(({ alert, change, by }) => {
    if (by.length > 0 || (isQuiet(alert) && !hasEnded(change))) return []
    const inhibits = inhibited.get(placeOf(change))?.map((each) => each.alert)
    const entries = alert.entries.filter((entry) => !removed.has(entry))
    const [first] = entries
    if (first === undefined) return []
    const freeSince = now - age(`free ${first.id}`, first.content.at)
    return { ...alert, entries, freeSince, ...(inhibits && { inhibits }) }
  })
}

/**
 * The times that alerts fired and ended while something suppressed them throughout, each with what suppressed it at first.
 */
function discardedOf(
  times: readonly UnknownTime[],
  mutes: readonly Mute[],
  { silences, inhibitorsOf }: Awaited<ReturnType<Moment['past']>>,
): (Suppressed & UnknownTime)[] {
  return times.flatMap(({ entries, from, change }) => {
    const own = mutes.filter(({ match }) => matches(match, change))
    const inhibitors = inhibitorsOf(change)
    const suppressorsAt = (at: number) => {
      const silenced = silences.flatMap((silence) => silenceAt(silence, at) ?? [])
      const firing = inhibitors.filter(({ firingSince, until = Infinity }) => firingSince <= at && at < until)
      return suppressorsOf(change, at, activeAt(at, own, silenced), firing)
    }
    const untilAt = (at: number) => Math.max(...suppressorsAt(at).map(({ until }) => until))
    let until = untilAt(from)
    while (until > -Infinity && until < change.at) until = untilAt(until)
    return until < change.at ? [] : { entries, from, change, by: suppressorsAt(from).map(({ by }) => by) }
  })
}

/** Suppresses all alerts that it matches, until a time. */
export type Active = { match: AlertMatch; until: number } & Omit<Suppression, 'at'>

/** The mutes that are active at a time, and the given silences. */
function activeAt(at: number, mutes: readonly Mute[], silences: readonly Silence[]): Active[] {
  return [
    ...mutes.flatMap(({ match, start, timezone, duration }) => {
      const until = (lastTime(start, timezone, at) ?? -Infinity) + duration
      return at < until ? [{ match, by: 'mute' as const, until }] : []
    }),
    ...silences.map(({ match, id, until, reason }) => ({ match, by: 'silence' as const, until, silence: id, reason })),
  ]
}

/** What suppresses a change at a time. */
function suppressorsOf(
  change: Alert,
  at: number,
  active: readonly Active[],
  inhibitors: readonly Inhibited[],
): { by: Suppression; until: number }[] {
  return [
    ...active
      .filter(({ match }) => matches(match, change))
      .map(({ match: _match, ...by }) => ({ by: { ...by, at }, until: by.until })),
    ...inhibitors.map(({ target, key, firingSince: since, until = Infinity }) => ({
      by: { by: 'inhibition' as const, at, since, alert: key, ...(target !== change.target && { target }) },
      until,
    })),
  ]
}

/** What suppresses alerts at a time (UNIX seconds). */
export function suppressingAt(
  { now: at, alerts, mutes, silences }: Pick<Read, 'now' | 'alerts' | 'mutes' | 'silences'>,
  inhibitorsAmong: Inhibitors,
) {
  /** The mutes and silences that are active. */
  const active = activeAt(at, mutes, silences)
  /** The alerts that inhibit an alert. */
  const inhibitorsOf = inhibitorsAmong(alerts)
  const firing = alerts.filter(({ instance: { state } }) => state !== 'pending')
  /** The targets whose calls cannot be polled. */
  const unseen = new Set(
    firing.flatMap(({ target, instance: { rule } }) => (rule.signal.name === 'poll_age' ? target : [])),
  )
  const suppressionsOf = (alert: Alert, wasUnseen = false): Suppression[] => {
    const by = suppressorsOf(alert, at, active, inhibitorsOf(alert)).map((suppressor) => suppressor.by)
    const isBlind = alert.signal.name !== 'poll_age' && (wasUnseen || unseen.has(alert.target))
    return isBlind ? [...by, { by: 'poll_age', at }] : by
  }
  return { active, inhibitorsOf, suppressionsOf }
}

type Suppressors = { notify: Pick<NotifyConfig, 'inhibit' | 'mutes'>; silences: readonly Silence[]; now: number }

/**
 * The alerts that are suppressed now, by their names (alert.ts), with what suppresses them.
 *
 * @param waiting the outboxes: alerts whose end is suppressed are in it
 */
export function suppressedAlerts(
  alerts: readonly LiveAlert[],
  { notify, silences, now }: Suppressors,
  waiting: Outboxes = new Map(),
) {
  const { suppressionsOf } = suppressingAt({ now, alerts, mutes: notify.mutes, silences }, inhibition(notify.inhibit))
  const changes = [...waiting.values()].flat().filter((content) => content.kind !== 'digest')
  const reasons = [...changes, ...alerts.map(alertOf)].map((alert) => [nameOf(alert), suppressionsOf(alert)] as const)
  return new Map(reasons.filter(([, own]) => own.length > 0))
}

/** What suppresses an alert, in words. */
export function reasonText({ by, silence, until = Infinity, reason = '', alert }: Suppression): string {
  if (by === 'silence') return `silence ${silence} until ${formatTime(until)}${reason === '' ? '' : `: ${reason}`}`
  if (by === 'poll_age') return 'its target is not polled'
  return by === 'mute' ? 'muted' : `inhibited by ${alert}`
}

/**
 * A configured inhibition: while an alert that `sourceMatch` matches fires, alerts that `targetMatch` matches wait, if their
 * labels in `equal` are the same.
 */
export type Inhibition = NotifyConfig['inhibit'][number]

/** The fields of an alert that inhibition needs. */
export type Inhibited = Pick<
  Alert,
  'target' | 'key' | 'alert' | 'severity' | 'labels' | 'match' | 'signal' | 'breach' | 'firingSince'
> & { /** When it ended (UNIX seconds); absent while it fires. */ until?: number }

/** For each alert, the firing alerts that inhibit it, among the given alerts. */
export type Inhibitors = (alerts: readonly (LiveAlert | Inhibited)[]) => (alert: Inhibited) => readonly Inhibited[]

/**
 * Alerts of the same target and subject (alert.ts) with a higher severity inhibit an alert, and so do those that a configured
 * inhibition names. No alert inhibits itself. If two alerts would inhibit each other, neither does.
 *
 * @param isNotified whether the receiver is notified of an alert. Only then can its message list the less severe ones.
 */
export function inhibition(
  rules: readonly Inhibition[],
  isNotified: (alert: Inhibited) => boolean = () => true,
): Inhibitors {
  const inhibits = (source: Inhibited, alert: Inhibited) =>
    (isWorse(source, alert) && isNotified(source)) || rules.some((rule) => isInhibiting(rule, source, alert))
  return (alerts) => {
    const sources = alerts.flatMap((one) => {
      if (!('instance' in one)) return one
      return one.instance.state === 'pending' ? [] : alertOf(one)
    })
    const onTarget = Map.groupBy(sources, ({ target }) => target)
    const named = sources.filter((source) => rules.some(({ sourceMatch }) => matches(sourceMatch, source)))
    return (alert) => {
      const mayInhibit = rules.some(({ targetMatch }) => matches(targetMatch, alert)) ? named : []
      const candidates = new Set([...(onTarget.get(alert.target) ?? []), ...mayInhibit])
      return [...candidates].filter(
        (source) => nameOf(source) !== nameOf(alert) && inhibits(source, alert) && !inhibits(alert, source),
      )
    }
  }
}

/**
 * Whether an alert is about the same calls and signal as another one, with a higher severity. Threshold and window may
 * differ.
 */
function isWorse(one: Inhibited, other: Inhibited): boolean {
  return isMoreSevere(one, other) && one.target === other.target && subjectOf(one) === subjectOf(other)
}

function isInhibiting({ sourceMatch, targetMatch, equal }: Inhibition, source: Inhibited, alert: Inhibited): boolean {
  if (!matches(targetMatch, alert) || !matches(sourceMatch, source)) return false
  const [own, other] = [valuesOf(source), valuesOf(alert)]
  return equal.every((label) => own[label] === other[label])
}
