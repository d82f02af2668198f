import type { Alert } from './api.ts'
import { minute, named } from './format.ts'
import { nowOf, type State } from './state.ts'
import { shownAlerts, urgencyOf } from './totals.ts'

/** An alert, and why its notifications wait. */
export type ShownAlert = { alert: Alert; waits: string }

/** Alerts of one rule, the worst first. */
export type AlertGroup = { name: string; alerts: ShownAlert[] }

/** The alerts by rule: the most urgent first, and those that are silenced, muted or inhibited last. */
export function alertGroups(state: State): AlertGroup[] {
  const why = waitsFor(state)
  const alerts = shownAlerts(state).map((alert): ShownAlert => ({ alert, waits: why(alert) }))
  return [...byRule(alerts.filter(({ waits }) => waits === '')), ...byRule(alerts.filter(({ waits }) => waits !== ''))]
}

function byRule(alerts: readonly ShownAlert[]): AlertGroup[] {
  const groups = Map.groupBy(alerts, ({ alert }) => alert.alert)
  return [...groups].map(([name, same]) => ({ name, alerts: same.toSorted(worstFirst) }))
}

/** How bad a value is: the greater it is past its threshold, the worse. */
const worstFirst = ({ alert: a }: ShownAlert, { alert: b }: ShownAlert) =>
  urgencyOf(a) - urgencyOf(b) || (b.value - a.value) * (a.breach === 'above' ? 1 : -1)

/** What silences, mutes or inhibits an alert now; '' if nothing does. */
function waitsFor(state: State) {
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
