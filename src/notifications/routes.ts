import { matches } from '../alerts/match.ts'
import type { AlertMatch } from '../alerts/match-keys.ts'

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
