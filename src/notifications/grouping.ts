import { subjectOf, type Alert } from '../alerts/alert.ts'
import { onceEach } from '../alerts/once-each.ts'
import type { IncidentId } from '../alerts/incidents.ts'
import { valuesOf, matches } from '../alerts/match.ts'
import { bySeverity, type AlertMatch } from '../alerts/match-keys.ts'
import type { Rule } from '../alerts/rule.ts'
import type { NotifyConfig } from './notify-section.ts'

/** Alerts that are notified together, as Alertmanager groups them. */
export type Group = IncidentId & {
  /** What the route of its alerts matches; undefined without a route. */
  route: AlertMatch | undefined
  /** How long the first alert waits for others (undefined: as long as polls need), and how long later changes wait after each message (seconds). */
  wait: number | undefined
  interval: number
}

/** What groups, routes and suppression need of an alert. */
export type Routable = Pick<Alert, 'alert' | 'severity' | 'target' | 'labels' | 'match' | 'signal' | 'breach'>
export type GroupOf = (alert: Routable) => Group

/**
 * The group of an alert. The labels of the first route that matches it come before those of `notify`.
 *
 * @param rules an alert is in the group of the most severe of them that measures the same and has the same route, so that an alert
 *   that becomes more severe stays in its group; default: each rule has a group of its own
 */
export function grouping(
  notify: Pick<NotifyConfig, 'groupBy' | 'groupInterval'> & Partial<Pick<NotifyConfig, 'routes' | 'groupWait'>>,
  rules: readonly Rule[] = [],
): GroupOf {
  const { routes = [] } = notify
  const worstFirst = rules.toSorted(bySeverity)
  const bySubject = new Map<string, readonly Rule[]>()
  /** The rules that measure the same. */
  const onSubjectOf = (alert: Routable) => {
    const subject = subjectOf(alert)
    const values = valuesOf(alert)
    const own =
      bySubject.get(subject) ??
      worstFirst.filter((rule) => subjectOf({ ...rule, labels: labelsAmong(rule.by, values) }) === subject)
    bySubject.set(subject, own)
    return own
  }
  const routeOf = (alert: Routable) => routes.find(({ match }) => matches(match, alert))
  return onceEach((alert) => {
    const route = routeOf(alert)
    const worst = onSubjectOf(alert).find((rule) => routeOf({ ...alert, ...named(rule) }) === route)
    const values = valuesOf({ ...alert, ...(worst && named(worst)) })
    const labels = labelsAmong(route?.groupBy ?? notify.groupBy, values)
    const key = JSON.stringify([route?.match ?? null, labels])
    return {
      key,
      labels,
      route: route?.match,
      wait: notify.groupWait,
      interval: notify.groupInterval,
    }
  })
}

const named = ({ name: alert, severity }: Rule) => ({ alert, severity })

/** Those of the labels that have a value. */
function labelsAmong(labels: readonly (keyof AlertMatch)[], values: AlertMatch): AlertMatch {
  return Object.fromEntries(labels.flatMap((label) => (values[label] === undefined ? [] : [[label, values[label]]])))
}

/** The receivers, by name, that are notified of the alerts that a match matches. */
export type Route = { match: AlertMatch; notify: readonly string[] }

/**
 * The recipients of an alert: those of the first matching route, or all receivers if no route matches.
 *
 * @param receivers the names of all receivers
 */
export function recipientsBy(
  routes: readonly Route[],
  receivers: readonly string[],
): (change: Parameters<typeof matches>[1]) => readonly string[] {
  return (change) => {
    const route = routes.find(({ match }) => matches(match, change))
    return route === undefined ? receivers : receivers.filter((name) => route.notify.includes(name))
  }
}
