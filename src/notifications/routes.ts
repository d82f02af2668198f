import { matches } from '../alerts/match.ts'
import type { AlertMatch } from '../alerts/match-keys.ts'

/** The recipients of the alerts that a match matches, by name. */
export type Route = { match: AlertMatch; notify: readonly string[] }

/**
 * The recipients of an alert: those of the first route that matches it; all where none does.
 *
 * @param receivers the names of all that there are
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
