import type { Alert } from './api.ts'
import { minute, named } from './format.ts'
import { nowOf, type State } from './state.ts'
import { steady } from './steady.ts'
import { shownAlerts, urgencyOf } from './totals.ts'

/** Alerts of one rule, the worst first. `waits` says why notifications of all of them wait, '' if none does. */
export type AlertGroup = {
  name: string
  alerts: readonly Alert[]
  worst: Alert
  waits: string
  /** On how many targets. */
  targets: number
  /** When the first one began. */
  since: string
}

/** The alerts by rule: the most urgent first, and those that are silenced, muted or inhibited last. */
export function alertGroups(state: State): AlertGroup[] {
  const why = waitsFor(state)
  const groups = Map.groupBy(shownAlerts(state), (alert) => JSON.stringify([alert.alert, why(alert)]))
  const made = [...groups.values()].map((same): AlertGroup => {
    const alerts = same.toSorted(worstFirst)
    const worst = alerts[0]!
    return {
      name: worst.alert,
      alerts,
      worst,
      waits: why(worst),
      targets: new Set(alerts.map(({ target }) => target)).size,
      since: alerts.map(({ since }) => since).toSorted()[0]!,
    }
  })
  const inOrder = [...made.filter(({ waits }) => waits === ''), ...made.filter(({ waits }) => waits !== '')]
  return [...steady(state, 'alerts', inOrder, ({ name, waits }) => `${name} ${waits}`)]
}

/** How bad a value is: the greater it is past its threshold, the worse. */
const worstFirst = (a: Alert, b: Alert) =>
  urgencyOf(a) - urgencyOf(b) || (b.value - a.value) * (a.breach === 'above' ? 1 : -1)

/** What silences, mutes or inhibits an alert now; '' if nothing does. */
export function waitsFor(state: State) {
  const now = nowOf(state)
  const silences = new Map(state.snapshot?.silences.map((silence) => [silence.id, silence]))
  const firing = state.pastAlerts.filter(({ until }) => until === null)
  const episodes = new Map(firing.map((one) => [named(one), one]))
  const byKey = new Map(firing.map((one) => [`${one.target}|${one.key}`, one]))
  return (alert: Alert) => {
    const silenced = (alert.silences ?? []).flatMap((id) => {
      const { until, author } = silences.get(id) ?? {}
      return until === undefined
        ? []
        : [`silenced until ${minute(until, now)}${author === undefined ? '' : ` by ${author}`}`]
    })
    const withheld = (episodes.get(named(alert))?.suppressed ?? []).flatMap(({ by, until, alert: key, target }) => {
      if (by === 'mute' && until !== undefined && until > now) return [`muted until ${minute(until, now)}`]
      const source = by === 'inhibition' && byKey.get(`${target ?? alert.target}|${key}`)
      return source ? [`inhibited by ${named(source)}`] : []
    })
    return [...silenced, ...withheld].join(', ')
  }
}
