import { formatNumber } from '../../../text/format.ts'
import { addressOf } from './address.ts'
import type { Alert, Incident } from './api.ts'
import { labelText, named } from './format.ts'
import { isPart, waitsFor } from './incidents.ts'
import type { State } from './state.ts'
import { steady } from './steady.ts'
import { shownAlerts, urgencyOf } from './totals.ts'

/** Alerts of one rule, the worst first. `waits` says why nobody is notified of them, or of how many; `isQuiet` whether that is so of all. */
export type AlertGroup = {
  key: string
  alerts: readonly Alert[]
  worst: Alert
  waits: string
  isQuiet: boolean
  /** When the first one began. */
  since: string
}

/** The address of all alerts that fire of an incident. */
export const addressOfIncident = ({ group }: Incident) => addressOf('alerts', { incident: labelText(group) })

/** Which alerts the address selects: those of an incident or of a rule; undefined where it selects none of them. */
export function selectedAlerts({ query, snapshot }: State): ((alert: Alert) => boolean) | undefined {
  const [group, rule] = [query.get('incident'), query.get('alert')]
  const incident = snapshot?.incidents.find((one) => labelText(one.group) === group)
  if (group) return (alert) => incident !== undefined && isPart(alert, incident)
  return rule ? ({ alert }) => alert === rule : undefined
}

/** The alerts by rule, or those that are selected: the most urgent first, and those of which nobody is notified last. */
export function alertGroups(state: State): AlertGroup[] {
  const [why, isSelected] = [waitsFor(state), selectedAlerts(state)]
  const keyOf = (alert: Alert) => (isSelected ? named(alert) : alert.alert)
  const groups = Map.groupBy(shownAlerts(state).filter(isSelected ?? (() => true)), keyOf)
  const made = [...groups.values()].map((same): AlertGroup => {
    const reasons = same.map(why)
    const alerts = same.toSorted(worstFirst)
    const worst = alerts[0]!
    return {
      key: keyOf(worst),
      alerts,
      worst,
      waits: waitsText(reasons),
      isQuiet: !reasons.includes(''),
      since: alerts.map(({ since }) => since).toSorted()[0]!,
    }
  })
  const inOrder = made.toSorted((a, b) => Number(a.isQuiet) - Number(b.isQuiet))
  return [...steady(state, 'alerts', inOrder, ({ key }) => key)]
}

/** `silenced until 15:13 by ops` of all alerts; of several, how many are silenced, muted or inhibited. */
function waitsText(reasons: readonly string[]) {
  const [first = ''] = reasons
  if (reasons.every((reason) => reason === first)) return first
  const kinds = Map.groupBy(reasons, (reason) => reason.split(' ')[0]!)
  kinds.delete('')
  return [...kinds].map(([kind, { length }]) => `${formatNumber(length)} ${kind}`).join(', ')
}

/** How bad a value is: the greater it is past its threshold, the worse. */
const worstFirst = (a: Alert, b: Alert) =>
  urgencyOf(a) - urgencyOf(b) || (b.value - a.value) * (a.breach === 'above' ? 1 : -1)
