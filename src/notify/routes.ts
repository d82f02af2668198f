import { picks, type AlertMatch } from '../alerts/match.ts'
import type { Notification } from '../alerts/notification.ts'

/** The alerts that a match picks go to these notifiers. */
export type Route = { match: AlertMatch; notify: readonly string[] }

/**
 * Says who is to be told of an alert: the notifiers of the first route that picks it; all where none does.
 *
 * @param notifiers the names of all that there are
 */
export function routed(
  routes: readonly Route[],
  notifiers: readonly string[],
): (told: Notification) => readonly string[] {
  return (told) => {
    const route = routes.find(({ match }) => picks(match, told))
    return route === undefined ? notifiers : notifiers.filter((name) => route.notify.includes(name))
  }
}
