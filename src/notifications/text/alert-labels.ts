import type { Notification } from '../../alerts/notification.ts'
import { descriptionOf, summaryOf } from './notification-text.ts'

/** The labels by which Alertmanager, and receivers of its webhooks, identify an alert. */
export function labelsOf({ alert, severity, target, labels }: Notification): Record<string, string> {
  return { alertname: alert, severity, target, ...labels }
}

/** What Alertmanager shows besides the labels. */
export function annotationsOf(notification: Notification): Record<string, string> {
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
