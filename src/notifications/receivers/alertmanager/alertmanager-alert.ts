import type { LiveAlert } from '../../../alerts/alert.ts'
import { notificationOf, type Notification } from '../../../alerts/notification.ts'
import { isoTime } from '../../../clock/times.ts'
import { linksOf, withRunbook } from '../../text/links.ts'
import { descriptionOf, summaryOf } from '../../../alerts/text/alert-text.ts'

/** An alert as Alertmanager takes it (`POST /api/v2/alerts`). Alertmanager identifies an alert by its labels. */
export type AlertmanagerAlert = {
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  startsAt: string
  endsAt: string
  generatorURL?: string
}

/** The labels by which Alertmanager, and receivers of its webhooks, identify an alert. */
function labelsOf({ alert, severity, target, labels }: Notification): Record<string, string> {
  return { alertname: alert, severity, target, ...labels }
}

/** What Alertmanager shows besides the labels. */
function annotationsOf(notification: Notification): Record<string, string> {
  const { value, threshold, calls, runbookUrl } = notification
  const description = descriptionOf(notification)
  return {
    summary: summaryOf(notification),
    ...(description === undefined ? {} : { description }),
    value: String(value),
    threshold: String(threshold),
    ...(calls === undefined ? {} : { calls: String(calls) }),
    ...(runbookUrl === undefined ? {} : { runbook_url: runbookUrl }),
  }
}

/**
 * A firing or recovering instance as an alert.
 *
 * @param times now and when the alert ends (UNIX seconds, Alertmanager's clock), and before which an evaluation is old (host's clock)
 * @param pageUrl the page's address, without a trailing slash; Alertmanager accepts only an absolute address
 */
export function alertmanagerAlert(
  live: LiveAlert,
  { now, endsAt, freshFrom }: { now: number; endsAt: number; freshFrom?: number },
  pageUrl?: string,
): AlertmanagerAlert {
  const notification = withRunbook(notificationOf({ kind: 'firing' }, live, now, freshFrom), pageUrl)
  return {
    labels: labelsOf(notification),
    annotations: annotationsOf(notification),
    // Alertmanager refuses an alert that begins after it ends, which happens when the service's clock is ahead of its own.
    startsAt: isoTime(Math.min(notification.firingSince, now, endsAt)),
    // Alertmanager takes the alert for resolved from then on, unless a later time is posted.
    endsAt: isoTime(endsAt),
    ...(pageUrl !== undefined && { generatorURL: linksOf(notification, pageUrl).alert }),
  }
}
