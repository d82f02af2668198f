import { instanceKey } from '../../../alerts/groups.ts'
import { matchOfGroup, type AlertMatch } from '../../../alerts/match-keys.ts'
import { formatNumber } from '../../../text/format.ts'
import type { Alert, Incident } from './api.ts'
import { labelText, minute, unitOf } from './format.ts'
import { nowOf, type State } from './state.ts'
import { steady } from './steady.ts'
import { shownAlerts } from './totals.ts'

/** One of the worst alerts of an incident, as it is now if that is known. `share` is the length of its bar, from 0 to 1. */
export type WorstLine = Incident['worst'][number] & { live: Alert | undefined; share: number }

/** An incident with its worst alerts; `waits` says of which alerts nobody is notified, and why, and `isQuiet` that it is all of them. */
export type ShownIncident = {
  incident: Incident
  /** The worst alert, or one that is within its threshold again. */
  lead: Alert | undefined
  lines: readonly WorstLine[]
  waits: string
  isQuiet: boolean
  /** Selects all that fires of it. */
  match: AlertMatch
}

const keyOf = ({ target, key }: { target: string; key: string }) => `${target}|${key}`
const keyOfLive = ({ target, alert, labels }: Alert) => keyOf({ target, key: instanceKey(alert, labels) })

/** The head of the overview has as many incidents, the worst ones. */
export const MOST_INCIDENTS = 3

/** The incidents of the selected targets, the worst first. */
export function shownIncidents(state: State): ShownIncident[] {
  const { snapshot, target } = state
  const shown = shownAlerts(state)
  const alerts = snapshot?.alerts ?? []
  const live = new Map(alerts.map((alert) => [keyOfLive(alert), alert]))
  const why = waitsFor(state)
  return (snapshot?.incidents ?? [])
    .filter((incident) => target === '' || shown.some((alert) => isPart(alert, incident)))
    .map((incident) => {
      const own = alerts.filter((alert) => isPart(alert, incident))
      const names = new Set(own.map(keyOfLive))
      const worst = steady(state, `worst ${JSON.stringify(incident.group)}`, incident.worst, keyOf)
      const highest = Math.max(...worst.map(({ value }) => value ?? 0))
      const lines = worst.map((one): WorstLine => {
        const alert = live.get(keyOf(one))
        const isShare = alert !== undefined && unitOf(alert) === 'ratio'
        return { ...one, live: alert, share: Math.min(1, (one.value ?? 0) / (isShare ? 1 : highest || 1)) }
      })
      // One that another one of the incident inhibits says nothing of it.
      const isLess = ({ suppressed = [], ...one }: Alert) =>
        suppressed.some(({ target = one.target, alert = '' }) => names.has(keyOf({ target, key: alert })))
      const waits = own.filter((alert) => !isLess(alert)).map(why)
      const lead =
        incident.worst.map((one) => live.get(keyOf(one)))[0] ?? shown.find((alert) => isPart(alert, incident))
      const isQuiet = waits.length > 0 && waits.every(Boolean)
      return { incident, lead, lines, waits: waitsText(waits), isQuiet, match: matchOfGroup(incident.group, own) }
    })
}

/** Whether an alert fires and is part of an incident. */
export const isPart = ({ state, group }: Alert, incident: Incident) =>
  state !== 'pending' && labelText(group) === labelText(incident.group)

const WORDS = { silence: 'silenced', mute: 'muted', inhibition: 'inhibited', poll_age: 'unpolled' }

type Suppression = NonNullable<Alert['suppressed']>[number] & { at?: string }

/** What suppresses an alert, until when and by whom or what, and why; since when, if that is known. */
export function suppressedBy(state: State) {
  const now = nowOf(state)
  const silences = new Map(state.snapshot?.silences.map((silence) => [silence.id, silence]))
  return ({ by, silence = 0, alert, target, ...noted }: Suppression) => {
    const { since, author = alert } = silences.get(silence) ?? {}
    const { until, reason = '' } = silences.get(silence) ?? noted
    const more = [until && `until ${minute(until, now)}`, author && `by ${author}`, target && `on ${target}`]
    const why = reason && `: ${reason}`
    return { what: WORDS[by], more: more.filter(Boolean).join(' '), why, at: noted.at ?? since }
  }
}

/** What suppresses an alert now; '' if nothing does. */
export function waitsFor(state: State) {
  const textOf = suppressedBy(state)
  return ({ suppressed = [] }: Alert) =>
    suppressed
      .map(textOf)
      .map(({ what, more }) => `${what} ${more}`.trim())
      .join(', ')
}

/** `silenced until 15:13 by ops` of all alerts; of several, how many are silenced, muted or inhibited: `2 silenced until 15:13 by ops`. */
export function waitsText(reasons: readonly string[]) {
  const [first = ''] = reasons
  if (reasons.every((reason) => reason === first)) return first
  const kinds = Map.groupBy(reasons, (reason) => reason.split(/\W/)[0]!)
  kinds.delete('')
  return [...kinds]
    .map(([kind, alike]) => `${formatNumber(alike.length)} ${alike.every((one) => one === alike[0]) ? alike[0] : kind}`)
    .join(', ')
}
