import { addressOf } from './address.ts'
import type { Alert, Incident } from './api.ts'
import { labelText, named } from './format.ts'
import { isPart, waitsFor } from './incidents.ts'
import type { State } from './state.ts'
import { steady } from './steady.ts'
import { shownAlerts, urgencyOf } from './totals.ts'

/** The address of all alerts that fire of an incident. */
export const addressOfIncident = ({ group }: Incident) => addressOf('alerts', { incident: labelText(group) })

/** Which alerts the address selects: those of an incident or of a rule; undefined where it selects none of them. */
export function selectedAlerts({ query, snapshot }: State): ((alert: Alert) => boolean) | undefined {
  const [group, rule] = [query.get('incident'), query.get('alert')]
  const incident = snapshot?.incidents.find((one) => labelText(one.group) === group)
  if (group) return (alert) => incident !== undefined && isPart(alert, incident)
  return rule ? ({ alert }) => alert === rule : undefined
}

/** Alerts of one rule, or those of an incident on one target, the worst first. */
export type AlertGroup = readonly Alert[]

/**
 * The alerts by rule, those of an incident by target, or each one that is selected: those with most failed calls first where they are
 * selected, then the most urgent ones, and those of which nobody is notified last.
 */
export function alertGroups(state: State): readonly AlertGroup[] {
  const [why, isSelected] = [waitsFor(state), selectedAlerts(state)]
  const ofIncident = state.query.has('incident')
  const keyOf = (alert: Alert) => (ofIncident ? alert.target : isSelected ? named(alert) : alert.alert)
  const groups = Map.groupBy(shownAlerts(state).filter(isSelected ?? (() => true)), keyOf)
  const worst = [...groups.values()].map((same) => same.toSorted(worstFirst))
  const rankOf = (group: AlertGroup) => (group.every(why) ? 1000 : 0) + (isSelected ? 0 : urgencyOf(group[0]))
  const inOrder = worst.toSorted((a, b) => rankOf(a) - rankOf(b) || (isSelected ? mostFailed(a[0]!, b[0]!) : 0))
  return steady(state, `alerts ${state.query}`, inOrder, ([first]) => keyOf(first!), rankOf)
}

/** How many calls failed; 0 of an alert that is not about their share. */
const failedOf = ({ signal, value, calls }: Alert) => (signal === 'failure_ratio' ? value * (calls ?? 0) : 0)

/** How bad a value is: the greater it is past its threshold, the worse. */
const worstFirst = (a: Alert, b: Alert) =>
  urgencyOf(a) - urgencyOf(b) || (b.value - a.value) * (a.breach === 'above' ? 1 : -1)
const mostFailed = (a: Alert, b: Alert) => failedOf(b) - failedOf(a) || worstFirst(a, b)
