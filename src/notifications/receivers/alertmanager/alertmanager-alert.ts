import type { LiveAlert } from '../../../alerts/alert.ts'
import { notificationOf } from '../../../alerts/notification.ts'
import { isoTime } from '../../../clock/iso-time.ts'
import { annotationsOf, labelsOf } from '../../text/alert-labels.ts'
import { linksOf, withRunbook } from '../../text/links.ts'

/** An alert as Alertmanager takes it (`POST /api/v2/alerts`). Alertmanager identifies an alert by its labels. */
export type AlertmanagerAlert = ReturnType<typeof alertmanagerAlert>

/** An alert's identity: two alerts with the same key have the same labels in Alertmanager. */
export function alertKey({ target, instance: { key, rule } }: LiveAlert): string {
  return JSON.stringify([target, key, rule.severity])
}

/**
 * A firing or recovering instance as an alert.
 *
 * @param times now and when the alert ends (UNIX seconds, host's clock)
 * @param pageUrl the page's address, without a trailing slash; Alertmanager accepts only an absolute address
 */
export function alertmanagerAlert(live: LiveAlert, { now, endsAt }: { now: number; endsAt: number }, pageUrl?: string) {
  const notification = withRunbook(notificationOf({ kind: 'firing' }, live, now), pageUrl)
  return {
    labels: labelsOf(notification),
    annotations: annotationsOf(notification),
    // Alertmanager refuses an alert that begins after it ends, which happens when the host's clock was set back.
    startsAt: isoTime(Math.min(notification.firingSince, now, endsAt)),
    // Alertmanager takes the alert for resolved from then on, unless a later time is posted.
    endsAt: isoTime(endsAt),
    ...(pageUrl !== undefined && { generatorURL: linksOf(notification, pageUrl).alert }),
  }
}
