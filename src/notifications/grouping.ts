import type { Alert } from '../alerts/alert.ts'
import { valuesOf, matches } from '../alerts/match.ts'
import type { AlertMatch } from '../alerts/match-keys.ts'
import type { NotifyConfig } from './notify-section.ts'

/** Alerts that are notified together, as Alertmanager groups them. */
export type Group = {
  /** Identifies the group. */
  key: string
  /** The values that its alerts have in common, by `group_by`. */
  labels: AlertMatch
  /** How long the first alert waits for others, and how long later changes wait after each message (seconds). */
  wait: number
  interval: number
}

export type GroupOf = (alert: Pick<Alert, 'alert' | 'severity' | 'target' | 'labels' | 'match'>) => Group

/** The group of an alert. The settings of the first route that matches it come before those of `notify`. */
export function grouping(
  notify: Pick<NotifyConfig, 'groupBy' | 'groupWait' | 'groupInterval'> & Partial<Pick<NotifyConfig, 'routes'>>,
): GroupOf {
  const { routes = [] } = notify
  return (alert) => {
    const route = routes.findIndex(({ match }) => matches(match, alert))
    const { groupBy, groupWait, groupInterval } = { ...notify, ...definedIn(routes[route]) }
    const values = valuesOf(alert)
    const labels: AlertMatch = Object.fromEntries(
      groupBy.flatMap((label) => (values[label] === undefined ? [] : [[label, values[label]]])),
    )
    return { key: JSON.stringify([route, labels]), labels, wait: groupWait, interval: groupInterval }
  }
}

function definedIn({ groupBy, groupWait, groupInterval }: Partial<NotifyConfig['routes'][number]> = {}) {
  return {
    ...(groupBy !== undefined && { groupBy }),
    ...(groupWait !== undefined && { groupWait }),
    ...(groupInterval !== undefined && { groupInterval }),
  }
}
