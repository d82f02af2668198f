import { placeOf, alertOf, nameOf, type Alert, type LiveAlert } from '../../alerts/alert.ts'
import type { Suppression } from '../../alerts/episode.ts'
import { onceEach } from '../../alerts/once-each.ts'
import { matches, silenceAt, valuesOf, type Silence } from '../../alerts/match.ts'
import { isMoreSevere } from '../../alerts/match-keys.ts'
import { lastTime } from '../../clock/calendar.ts'
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
}

/** What suppresses an alert from a time until another one (UNIX seconds). `ifSent`: of those receivers that are notified of this one. */
type Period = { from: number; until: number; by: Suppression; ifSent?: Fired }

/** What may suppress an alert but mutes; and what does at a time, for receivers that are notified of all that inhibits it. */
type Lasting = {
  periods: readonly Period[]
  said: { time: number; all: readonly Suppression[] } | undefined
}

/** An alert that inhibits another one. `ifSent`: only of receivers that are notified of it. */
type Inhibitor = { source: Fired; ifSent: boolean }

/**
 * What suppresses alerts: a mute or a silence that matches them, the `poll_age` alert of their target, a more severe alert on the same
 * calls, or an alert that a configured inhibition names. No alert inhibits itself. If two would inhibit each other, neither does.
 *
 * @returns what suppresses the alerts of a receiver. `isSent`: whether it is notified of an alert. Only then does it suppress a less severe
 *   one on the same calls; default: of all
 */
export function suppressing({ mutes, inhibit, silences, fired }: Suppressors) {
  const { onPlaceOf, inhibitors, named } = inhibiting({ inhibit, fired })
  const polls = fired.filter(({ signal }) => signal.name === 'poll_age')
  const unseen = Map.groupBy(polls, ({ target }) => target)
  const isOpen = silences.length + named.length > 0
  /** Whether anything but a mute may suppress it: of thousands of alerts, most are alone. */
  const mayBe = (alert: Fired) => isOpen || unseen.has(alert.target) || onPlaceOf(alert).length > 1
  /** Computed once for all receivers. */
  const lastingOf = onceEach((alert: Fired): Lasting => {
    if (!mayBe(alert)) return { periods: [], said: undefined }
    const silenced = silences.flatMap((silence) => silencedIn(silence, alert))
    const blind = blindIn(unseen.get(alert.target) ?? [], alert)
    const inhibited = inhibitors(alert).map((one) => inhibitedIn(one, alert))
    return { periods: [...silenced, ...blind, ...inhibited], said: undefined }
  })

  return (isSent: (alert: Routable) => boolean = () => true) => {
    const isOwn = ({ ifSent }: Period) => ifSent === undefined || isSent(ifSent)
    const periods = (alert: Fired, from: number, to: number): readonly Period[] => {
      const all = lastingOf(alert).periods
      if (all.length + mutes.length === 0) return all
      const muted = mutes.flatMap((mute) => mutedIn(mute, alert, from, to))
      return [...all, ...muted].filter((one) => one.from <= to && one.until > from && isOwn(one))
    }

    return {
      inhibitorsOf: (alert: Fired): Fired[] =>
        inhibitors(alert).flatMap(({ source, ifSent }) => (!ifSent || isSent(source) ? source : [])),
      /** All that these may inhibit, directly or through others. */
      inhibitable: (alerts: readonly Fired[]): Set<Fired> =>
        new Set(named.length > 0 ? fired : alerts.flatMap(onPlaceOf)),
      /** What suppresses an alert at a time. */
      at: (alert: Fired, time: number): readonly Suppression[] => {
        const lasting = lastingOf(alert)
        if (lasting.said?.time === time && lasting.periods.every(isOwn)) return lasting.said.all
        const all = periods(alert, time, time).map(({ by }) => ({ ...by, at: time }))
        if (lasting.periods.every(isOwn)) lasting.said = { time, all }
        return all
      },
      /** For how long nothing suppressed an alert in a period (seconds). */
      freeSeconds: (alert: Fired, from: number, to: number): number => {
        let [free, reached] = [0, from]
        for (const period of periods(alert, from, to).toSorted((a, b) => a.from - b.from)) {
          free += Math.max(0, period.from - reached)
          reached = Math.max(reached, period.until)
        }
        return free + Math.max(0, to - reached)
      },
    }
  }
}

/** Which alerts inhibit others, of any receiver. */
function inhibiting({ inhibit, fired }: Pick<Suppressors, 'inhibit' | 'fired'>) {
  const onPlace = Map.groupBy(fired, placed)
  const onPlaceOf = (alert: Fired) => onPlace.get(placed(alert)) ?? []
  const named = fired.filter((source) => inhibit.some(({ sourceMatch }) => matches(sourceMatch, source)))
  const isConfigured = (source: Fired, alert: Fired) => inhibit.some((rule) => isInhibiting(rule, source, alert))
  const isWorse = (source: Fired, alert: Fired) => isMoreSevere(source, alert) && placed(source) === placed(alert)

  function inhibitors(alert: Fired): Inhibitor[] {
    const others = inhibit.some(({ targetMatch }) => matches(targetMatch, alert)) ? named : []
    const candidates = others.length === 0 ? onPlaceOf(alert) : new Set([...onPlaceOf(alert), ...others])
    return [...candidates].flatMap((source) => {
      if (source.key === alert.key && source.target === alert.target) return []
      if (isConfigured(alert, source) || isWorse(alert, source)) return []
      const isAlways = isConfigured(source, alert)
      return isAlways || isWorse(source, alert) ? { source, ifSent: !isAlways } : []
    })
  }

  return { onPlaceOf, inhibitors, named }
}

/** What suppresses the alerts of a receiver. */
export type Suppressing = ReturnType<ReturnType<typeof suppressing>>

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

/** When its target could not be polled. */
function blindIn(polls: readonly Fired[], { signal }: Fired): Period[] {
  if (signal.name === 'poll_age') return []
  // The requests of its window failed in that outage.
  const after = signal.name === 'request_errors' ? signal.window : 0
  return polls.map(({ firingSince, until = Infinity }) => periodOf(firingSince, until + after, { by: 'poll_age' }))
}

function inhibitedIn({ source, ifSent }: Inhibitor, alert: Fired): Period {
  const { target, key, firingSince: since, until = Infinity } = source
  const elsewhere = target !== alert.target && { target }
  const period = periodOf(since, until, { by: 'inhibition', since, alert: key, ...elsewhere })
  return ifSent ? { ...period, ifSent: source } : period
}

/** When a mute that matches an alert was active in a period. */
function mutedIn({ match, start, timezone, duration }: Mute, alert: Fired, from: number, to: number): Period[] {
  return matches(match, alert) ? activeIn({ start, timezone, duration }, from, to) : []
}

function activeIn({ start, timezone, duration }: Omit<Mute, 'match'>, from: number, to: number): Period[] {
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
export const isMuted = (mute: Mute, at: number) => activeIn(mute, at, at).length > 0

/** Names what an alert measures on its target; many alerts are compared with each other, again and again. */
export const placed = onceEach((alert: Fired) => placeOf(alert))

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
  const { at } = suppressing({ ...notify, silences: active, fired: firingAmong(alerts) })()
  const reasons = alerts.map(alertOf).map((alert) => [nameOf(alert), at(alert, now)] as const)
  return new Map(reasons.filter(([, own]) => own.length > 0))
}
