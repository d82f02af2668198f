import { withoutNumbers } from '../../../../text/format.ts'
import { addressOf } from '../address.ts'
import type { Alert, Incident } from '../api.ts'
import { labelText, named } from '../format.ts'
import { callsOf, isPart, reasonOf, waitsFor } from './incidents.ts'
import type { State } from '../state.ts'
import { steady } from '../steady.ts'
import { shownAlerts, urgencyOf } from '../totals.ts'

/** The address of all alerts that fire of an incident, or of those whose targets have the same problem. */
export const addressOfIncident = ({ group }: Incident, reason = '') =>
  addressOf('alerts', { incident: labelText(group), reason })

/** Which alerts the address selects: those of an incident, also for one reason, or of a rule; undefined where it selects none of them. */
export function selectedAlerts(state: State): ((alert: Alert) => boolean) | undefined {
  const { query, snapshot } = state
  const [group, rule, reason] = [query.get('incident'), query.get('alert'), query.get('reason')]
  const incident = snapshot?.incidents.find((one) => labelText(one.group) === group)
  const isFor = (alert: Alert) => reason === null || withoutNumbers(reasonOf(state, alert)) === reason
  if (group) return (alert) => incident !== undefined && isPart(alert, incident) && isFor(alert)
  return rule ? ({ alert }) => alert === rule : undefined
}

/** Alerts of one rule, or those of an incident on one target, the worst first. */
export type AlertRow = readonly Alert[]

/**
 * The alerts by rule, those of an incident by target, or each one that is selected: those with most failed calls first where they are
 * selected, then the most urgent ones, and those of which nobody is notified last.
 */
export function alertRows(state: State): readonly AlertRow[] {
  const [why, isSelected] = [waitsFor(state), selectedAlerts(state)]
  const ofIncident = state.query.has('incident')
  const keyOf = (alert: Alert) => (ofIncident ? alert.target : isSelected ? named(alert) : alert.alert)
  const groups = Map.groupBy(shownAlerts(state).filter(isSelected ?? (() => true)), keyOf)
  const worst = [...groups.values()].map((same) => same.toSorted(worstFirst))
  const rankOf = (group: AlertRow) => (group.every(why) ? 1000 : 0) + (isSelected ? 0 : urgencyOf(group[0]))
  const inOrder = worst.toSorted((a, b) => rankOf(a) - rankOf(b) || (isSelected ? mostFailed(a[0]!, b[0]!) : 0))
  return steady(state, `alerts ${state.query}`, inOrder, ([first]) => keyOf(first!), rankOf)
}

/** How bad a value is: the greater it is past its threshold, the worse. */
const worstFirst = (a: Alert, b: Alert) =>
  urgencyOf(a) - urgencyOf(b) || (b.value - a.value) * (a.breach === 'above' ? 1 : -1)
const mostFailed = (a: Alert, b: Alert) => callsOf(b).failed - callsOf(a).failed || worstFirst(a, b)
