import { placeOf, alertOf, nameOf, type Alert, type LiveAlert } from '../../alerts/alert.ts'
import type { Suppression } from '../../alerts/episode.ts'
import { matches, silenceAt, valuesOf, type Silence } from '../../alerts/match.ts'
import { isMoreSevere, type AlertMatch } from '../../alerts/match-keys.ts'
import { lastTime } from '../../clock/calendar.ts'
import { formatTime } from '../../text/format.ts'
import type { Routable } from '../grouping.ts'
import type { NotifyConfig } from '../notify-section.ts'

/** A recurring period in which matching alerts are not notified. */
export type Mute = NotifyConfig['mutes'][number]

/**
 * A configured inhibition: while an alert that `sourceMatch` matches fires, alerts that `targetMatch` matches wait, if their
 * labels in `equal` are the same.
 */
export type Inhibition = NotifyConfig['inhibit'][number]

/** An alert that fires, or fired until a time (UNIX seconds). */
export type Fired = Routable & Pick<Alert, 'key' | 'firingSince'> & { until?: number }

/** What may suppress alerts. */
export type Suppressors = {
  mutes: readonly Mute[]
  inhibit: readonly Inhibition[]
  /** Those that are active, or were since what is asked for. */
  silences: readonly Silence[]
  /** All that fires, or fired since what is asked for. */
  fired: readonly Fired[]
  /** Whether the receiver is notified of an alert. Only then does it suppress a less severe one on the same calls; default: of all. */
  isSent?: (alert: Routable) => boolean
}

/** What suppresses an alert from a time until another one (UNIX seconds). */
type Period = { from: number; until: number; by: Suppression }

/**
 * What suppresses alerts: a mute or a silence that matches them, the `poll_age` alert of their target, a more severe alert on the same
 * calls, or an alert that a configured inhibition names. No alert inhibits itself. If two would inhibit each other, neither does.
 *
 * @returns the periods in which an alert is suppressed that end after `from`
 */
export function suppressing({ mutes, inhibit, silences, fired, isSent = () => true }: Suppressors) {
  const onPlace = Map.groupBy(fired, placed)
  const unseen = Map.groupBy(
    fired.filter(({ signal }) => signal.name === 'poll_age'),
    ({ target }) => target,
  )
  const named = fired.filter((source) => inhibit.some(({ sourceMatch }) => matches(sourceMatch, source)))
  const inhibits = (source: Fired, alert: Fired) =>
    (isMoreSevere(source, alert) && placed(source) === placed(alert) && isSent(source)) ||
    inhibit.some((rule) => isInhibiting(rule, source, alert))

  function inhibitorsOf(alert: Fired): Fired[] {
    const others = inhibit.some(({ targetMatch }) => matches(targetMatch, alert)) ? named : []
    const candidates = new Set([...(onPlace.get(placed(alert)) ?? []), ...others])
    return [...candidates].filter(
      (source) => nameOf(source) !== nameOf(alert) && inhibits(source, alert) && !inhibits(alert, source),
    )
  }

  function periodsOf(alert: Fired, from: number, to: number): Period[] {
    const blind = alert.signal.name === 'poll_age' ? [] : (unseen.get(alert.target) ?? [])
    return [
      ...silences.flatMap((silence) => silencedIn(silence, alert)),
      ...mutes.filter(({ match }) => matches(match, alert)).flatMap((mute) => mutedIn(mute, from, to)),
      ...blind.map(({ firingSince, until = Infinity }) => {
        // The requests of its window failed in that outage.
        const after = alert.signal.name === 'request_errors' ? alert.signal.window : 0
        return periodOf(firingSince, until + after, { by: 'poll_age' as const })
      }),
      ...inhibitorsOf(alert).map(({ target, key, firingSince: since, until = Infinity }) => {
        const by = { by: 'inhibition' as const, since, alert: key, ...(target !== alert.target && { target }) }
        return periodOf(since, until, by)
      }),
    ].filter((period) => period.from <= to && period.until > from)
  }

  return {
    inhibitorsOf,
    /** What suppresses an alert at a time. */
    at: (alert: Fired, time: number): Suppression[] =>
      periodsOf(alert, time, time).map(({ by }) => ({ ...by, at: time })),
    /** For how long nothing suppressed an alert in a period (seconds). */
    freeSeconds: (alert: Fired, from: number, to: number): number => {
      const periods = periodsOf(alert, from, to).toSorted((a, b) => a.from - b.from)
      let [free, reached] = [0, from]
      for (const period of periods) {
        free += Math.max(0, period.from - reached)
        reached = Math.max(reached, period.until)
      }
      return free + Math.max(0, to - reached)
    },
  }
}

export type Suppressing = ReturnType<typeof suppressing>

const periodOf = (from: number, until: number, by: Omit<Suppression, 'at'>): Period => {
  return { from, until, by: { ...by, at: from } }
}

/** When a silence, which may have been edited, matched an alert. */
function silencedIn({ id, since, until, earlier = [], ...silence }: Silence, alert: Fired): Period[] {
  const ends = [...earlier.map((one) => one.until), until]
  return ends.flatMap((end, i) => {
    const [from, { match }] = [ends[i - 1] ?? since, earlier[i] ?? silence]
    if (!matches(match, alert)) return []
    return periodOf(from, end, { by: 'silence' as const, until: end, silence: id, reason: silence.reason })
  })
}

/** When a mute was active in a period. */
function mutedIn({ start, timezone, duration }: Mute, from: number, to: number): Period[] {
  const periods: Period[] = []
  for (
    let at = lastTime(start, timezone, to);
    at !== undefined && at + duration > from;
    at = lastTime(start, timezone, at - 1)
  )
    periods.push(periodOf(at, at + duration, { by: 'mute' as const, until: at + duration }))
  return periods
}

/** Whether a mute is active. */
export const isMuted = (mute: Mute, at: number) => mutedIn(mute, at, at).length > 0

const places = new WeakMap<object, string>()
/** Names what an alert measures on its target; many alerts are compared with each other, again and again. */
function placed(alert: Fired): string {
  const known = places.get(alert) ?? placeOf(alert)
  places.set(alert, known)
  return known
}

function isInhibiting({ sourceMatch, targetMatch, equal }: Inhibition, source: Fired, alert: Fired): boolean {
  if (!matches(targetMatch, alert) || !matches(sourceMatch, source)) return false
  const [own, other] = [valuesOf(source), valuesOf(alert)]
  return equal.every((label) => own[label] === other[label])
}

/** All that fires, of the live alerts. */
export function firingAmong(alerts: readonly LiveAlert[]): Alert[] {
  return alerts.flatMap((live) => (live.instance.state === 'pending' ? [] : alertOf(live)))
}

/** The alerts that are suppressed now, whoever the receiver is, by their names (alert.ts), with what suppresses them. */
export function suppressedAlerts(
  alerts: readonly LiveAlert[],
  {
    notify,
    silences,
    now,
  }: { notify: Pick<NotifyConfig, 'inhibit' | 'mutes'>; silences: readonly Silence[]; now: number },
): Map<string, readonly Suppression[]> {
  const active = silences.flatMap((silence) => silenceAt(silence, now) ?? [])
  const { at } = suppressing({ ...notify, silences: active, fired: firingAmong(alerts) })
  const reasons = alerts.map(alertOf).map((alert) => [nameOf(alert), at(alert, now)] as const)
  return new Map(reasons.filter(([, own]) => own.length > 0))
}

/** What suppresses an alert, in words. */
export function reasonText({ by, silence, until = Infinity, reason = '', alert }: Suppression): string {
  if (by === 'silence') return `silence ${silence} until ${formatTime(until)}${reason === '' ? '' : `: ${reason}`}`
  if (by === 'poll_age') return 'its target is not polled'
  return by === 'mute' ? 'muted' : `inhibited by ${alert}`
}
