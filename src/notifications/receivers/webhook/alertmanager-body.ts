import { hasEnded, type Notification } from '../../../alerts/notification.ts'
import type { AlertMessage, Message, StoreMessage } from '../../message.ts'
import { flappedText } from '../../text/flapped-text.ts'
import { storeText } from '../../text/store-text.ts'
import { annotationsOf, labelsOf } from '../../text/alert-labels.ts'
import { fingerprintOf } from './fingerprint.ts'

/** What a webhook of Alertmanager posts (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config). */
export type AlertmanagerBody = {
  version: '4'
  /** Names the group: the same target and severity, the same key. */
  groupKey: string
  truncatedAlerts: number
  /** `resolved` if no alert of the message fires. */
  status: Status
  receiver: string
  groupLabels: Texts
  commonLabels: Texts
  commonAnnotations: Texts
  /** Where the alerts are shown; empty where that is not known. */
  externalURL: string
  alerts: readonly BodyAlert[]
}

type Status = 'firing' | 'resolved'
type Texts = Record<string, string>
type BodyAlert = {
  status: Status
  labels: Texts
  annotations: Texts
  /** RFC 3339. */
  startsAt: string
  /** While it fires, the year 1: Go's zero. */
  endsAt: string
  generatorURL: string
  fingerprint: string
}
type Sources = { receiver: string; pageUrl?: string | undefined }

const ZERO_TIME = '0001-01-01T00:00:00Z'

/**
 * A message in the form of Alertmanager: the alerts that are new, and those that fired and resolved between deliveries as
 * resolved. A problem of the store is an alert of callwatch itself. Undefined of a digest, for which there is no form, and
 * of a message without alerts.
 */
export function alertmanagerBody(message: Message, sources: Sources): AlertmanagerBody | undefined {
  switch (message.kind) {
    case 'alerts': {
      const { target, severity } = message
      const alerts = alertsIn(message, sources)
      return alerts.length === 0 ? undefined : bodyOf({ target, severity }, alerts, sources)
    }
    case 'store':
      return bodyOf({ alertname: STORE_ALERT }, [storeAlert(message, sources)], sources)
    default:
      return undefined
  }
}

function bodyOf(
  groupLabels: Texts,
  alerts: readonly BodyAlert[],
  { receiver, pageUrl = '' }: Sources,
): AlertmanagerBody {
  const group = Object.entries(groupLabels).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    version: '4',
    groupKey: `{}:{${group.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(', ')}}`,
    truncatedAlerts: 0,
    status: alerts.some(({ status }) => status === 'firing') ? 'firing' : 'resolved',
    receiver,
    groupLabels,
    commonLabels: commonOf(alerts.map(({ labels }) => labels)),
    commonAnnotations: commonOf(alerts.map(({ annotations }) => annotations)),
    externalURL: pageUrl,
    alerts,
  }
}

function alertsIn({ alerts, flapped }: AlertMessage, sources: Sources): BodyAlert[] {
  return [
    ...alerts.map(({ notification, links }) =>
      bodyAlert(
        notification,
        { endsAt: hasEnded(notification) ? notification.at : undefined },
        { ...sources, pageUrl: links?.calls ?? sources.pageUrl },
      ),
    ),
    ...flapped.map((each) =>
      bodyAlert(each.notification, { endsAt: each.endedAt, summary: flappedText(each) }, sources),
    ),
  ]
}

function bodyAlert(
  notification: Notification,
  { endsAt, summary }: { endsAt: number | undefined; summary?: string },
  { pageUrl = '' }: Sources,
): BodyAlert {
  const labels = labelsOf(notification)
  return {
    status: endsAt === undefined ? 'firing' : 'resolved',
    labels,
    annotations: { ...annotationsOf(notification), ...(summary !== undefined && { summary }) },
    startsAt: timestamp(notification.firingSince),
    endsAt: timestamp(endsAt),
    generatorURL: pageUrl,
    fingerprint: fingerprintOf(labels),
  }
}

const STORE_ALERT = 'CallwatchStoreNotWritable'

function storeAlert(message: StoreMessage, { pageUrl = '' }: Sources): BodyAlert {
  const { title, before, problem, after } = storeText(message)
  const labels = { alertname: STORE_ALERT, severity: 'critical' }
  return {
    status: message.state === 'failing' ? 'firing' : 'resolved',
    labels,
    annotations: { summary: title, description: `${before}${problem}${after}` },
    startsAt: timestamp(message.since),
    endsAt: timestamp(message.state === 'failing' ? undefined : message.at),
    generatorURL: pageUrl,
    fingerprint: fingerprintOf(labels),
  }
}

/** What all have, with the same value. */
function commonOf([first = {}, ...others]: readonly Texts[]): Texts {
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  )
}

function timestamp(seconds: number | undefined): string {
  const date = new Date((seconds ?? Number.NaN) * 1000)
  return Number.isNaN(date.getTime()) ? ZERO_TIME : date.toISOString()
}
