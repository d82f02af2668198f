import type { Alert } from '../../alerts/alert.ts'
import { matchOfAll, type AlertMatch } from '../../alerts/match-keys.ts'
import { callsBehind } from '../../alerts/calls-behind.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { runbookOf } from '../../alerts/runbook.ts'
import { isoTime } from '../../clock/times.ts'

/** Where the page shows an alert, and the calls behind it, and where users silence it. */
export type AlertLinks = { alert: string; calls?: string; silence: string }

/** @param page the page's address, without a trailing slash */
export function linksOf(notification: Notification, page: string): AlertLinks {
  const { target, alert, labels, firingSince } = notification
  const behind = callsBehind(notification)
  // Calls in progress now say nothing about an alert that has ended.
  const isEnded = hasEnded(notification) && behind?.['since'] === undefined
  const view = viewsOf(page)
  return {
    alert: view({ target, alert, ...labels, since: isoTime(firingSince) }, 'alert'),
    ...(behind && !isEnded && { calls: view(behind, 'calls') }),
    silence: view({ alert, target, ...labels }, 'silences'),
  }
}

/** Where the page shows all alerts, the calls behind those of a group, by its worst one if any is known now, and where users silence them. */
export function groupLinks(alerts: readonly Alert[], group: AlertMatch, page: string, worst: readonly Alert[] = []) {
  const view = viewsOf(page)
  const { target: _target, ...behind } = { ...callsBehind(worst[0] ?? alerts[0]!) }
  return {
    overview: `${page}/`,
    ...('since' in behind && { calls: view(behind, 'calls') }),
    silence: view(matchOfAll(group, alerts), 'silences'),
  }
}

const viewsOf = (page: string) => (parameters: Record<string, string>, hash: string) =>
  `${page}/?${new URLSearchParams(parameters).toString()}#${hash}`

/** The notification with the page of its runbook, unless its rule names another one. */
export function withRunbook(notification: Notification, page: string | undefined): Notification {
  const { alert: name, runbookUrl } = notification
  const url = runbookOf({ name, runbookUrl }, page && `${page}/runbooks`)
  return url === undefined ? notification : { ...notification, runbookUrl: url }
}
