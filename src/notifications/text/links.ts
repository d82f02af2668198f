import { callsBehind } from '../../alerts/calls-behind.ts'
import type { Notification } from '../../alerts/notification.ts'
import { isoTime } from '../../clock/iso-time.ts'

/** Where the page shows more about an alert, and where it is silenced. */
export type AlertLinks = { calls?: string; silence: string }

/** @param page the address of the page, without what comes behind its path */
export function linksOf(notification: Notification, page: string): AlertLinks {
  const { target, alert, labels } = notification
  const behind = callsBehind(notification)
  const view = (parameters: Record<string, string>, hash: string) =>
    `${page}?${new URLSearchParams(parameters).toString()}#${hash}`
  return {
    ...(behind && {
      calls: view(
        {
          target: behind.target,
          ...behind.labels,
          status: behind.statuses.join(','),
          // The view leaves its end out; times there are milliseconds.
          ...(behind.window && { since: isoTime(behind.window.from), until: isoTime(behind.window.to + 0.001) }),
        },
        'calls',
      ),
    }),
    silence: view({ alert, target, ...labels }, 'silence'),
  }
}
