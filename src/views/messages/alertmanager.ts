import * as z from 'zod'
import type { LiveAlert } from '../../alerts/alert.ts'
import { isPattern } from '../../alerts/match.ts'
import type { AlertMatch } from '../../alerts/match-keys.ts'
import { hasEnded, notificationOf, type Notification } from '../../alerts/notification.ts'
import { isoTime } from '../../clock/times.ts'
import type { AlertMessage, AlertUpdate, FlappedAlert, Message, StoreMessage } from '../../notifications/message.ts'
import { wholeGroup } from '../../notifications/text/group-text.ts'
import { linksOf, withRunbook } from '../../notifications/text/links.ts'
import { descriptionOf, flappedText, summaryOf } from '../../notifications/text/notification-text.ts'
import { storeText } from '../../notifications/text/store-text.ts'
import { count } from '../shapes.ts'

const texts = z.record(z.string(), z.string())
const status = z.enum(['firing', 'resolved'])
const alert = z.object({
  status,
  labels: texts,
  annotations: texts,
  startsAt: z.string(),
  endsAt: z.string(),
  generatorURL: z.string(),
  fingerprint: z.string(),
})

/** An alert as Alertmanager takes it (`POST /api/v2/alerts`). Alertmanager identifies an alert by its labels. */
const postedAlert = alert
  .pick({ labels: true, annotations: true, startsAt: true, endsAt: true })
  .extend({ generatorURL: z.string().exactOptional() })
export type AlertmanagerAlert = z.output<typeof postedAlert>

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

/** The body of Alertmanager's webhook (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config). */
export const alertmanager = z.object({
  version: z.literal('4'),
  groupKey: z.string().describe('The same route and group, the same key'),
  truncatedAlerts: count,
  status,
  receiver: z.string(),
  groupLabels: texts,
  commonLabels: texts,
  commonAnnotations: texts,
  externalURL: z.string(),
  alerts: z.array(alert),
})
type AlertmanagerView = z.output<typeof alertmanager>

type Texts = z.output<typeof texts>
type Sources = { receiver: string; pageUrl?: string | undefined }

/** Go's zero: the end of what fires. */
const ZERO_TIME = '0001-01-01T00:00:00Z'

/**
 * A message in the form of Alertmanager's webhook, with all alerts of its group, at most `most` of them. Alerts that fired and resolved between deliveries are resolved ones.
 * A problem of the store is an alert of callwatch itself. Undefined for a digest or a report of the past, which Alertmanager does not have, and for a message
 * without alerts.
 */
export function alertmanagerView(message: Message, sources: Sources, most = Infinity): AlertmanagerView | undefined {
  if (message.kind === 'store')
    return bodyOf({ group: { alert: STORE_ALERT }, route: undefined }, [storeAlert(message, sources)], sources)
  if (message.kind !== 'alerts') return undefined
  const alerts = alertsIn(message, sources)
  return alerts.length === 0 ? undefined : bodyOf(message, alerts, sources, most)
}

function bodyOf(
  { group, route }: Pick<AlertMessage, 'group' | 'route'>,
  alerts: AlertmanagerView['alerts'],
  { receiver, pageUrl = '' }: Sources,
  most = Infinity,
): AlertmanagerView {
  const groupLabels = asLabels(group)
  return {
    version: '4',
    groupKey: `{}${route === undefined ? '' : `/${matchersOf(route, ',')}`}:${matchersOf(group, ', ')}`,
    truncatedAlerts: Math.max(0, alerts.length - most),
    status: statusOf(alerts.some(({ status }) => status === 'firing')),
    receiver,
    groupLabels,
    commonLabels: commonOf(alerts.map(({ labels }) => labels)),
    commonAnnotations: commonOf(alerts.map(({ annotations }) => annotations)),
    externalURL: pageUrl,
    alerts: alerts.slice(0, most),
  }
}

function asLabels({ alert, ...labels }: AlertMatch): Texts {
  return { ...(alert !== undefined && { alertname: alert }), ...labels }
}

/** `{alertname="HighFailureRate", severity=~"critical|warning"}`, as Alertmanager shows matchers. */
function matchersOf(match: AlertMatch, separator: string): string {
  const sorted = Object.entries(asLabels(match)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const texts = sorted.map(([name, value]) =>
    isPattern(value) ? `${name}=~${JSON.stringify(value.slice(2).trim())}` : `${name}=${JSON.stringify(value)}`,
  )
  return `{${texts.join(separator)}}`
}

function alertsIn(message: AlertMessage, { pageUrl }: Sources) {
  const ofChange = ({ notification, links }: AlertUpdate | FlappedAlert, endedAt?: number, summary?: string) =>
    bodyAlert(
      labelsOf(notification),
      { ...annotationsOf(notification), ...(summary !== undefined && { summary }) },
      { since: notification.firingSince, endedAt },
      links?.alert ?? pageUrl,
    )
  return [
    ...wholeGroup(message).map((each) =>
      ofChange(each, hasEnded(each.notification) ? each.notification.at : undefined),
    ),
    ...message.flapped.map((each) => ofChange(each, each.endedAt, flappedText(each))),
  ]
}

const STORE_ALERT = 'CallwatchStoreNotWritable'

function storeAlert(message: StoreMessage, { pageUrl }: Sources) {
  const { title, line } = storeText(message)
  return bodyAlert(
    { alertname: STORE_ALERT, severity: 'critical' },
    { summary: title, description: line },
    { since: message.since, endedAt: message.state === 'failing' ? undefined : message.at },
    pageUrl,
  )
}

function bodyAlert(
  labels: Texts,
  annotations: Texts,
  { since, endedAt }: { since: number; endedAt: number | undefined },
  generatorURL = '',
): z.output<typeof alert> {
  return {
    status: statusOf(endedAt === undefined),
    labels,
    annotations,
    startsAt: isoTime(since),
    endsAt: endedAt === undefined ? ZERO_TIME : isoTime(endedAt),
    generatorURL,
    fingerprint: fingerprintOf(labels),
  }
}

function statusOf(isFiring: boolean): z.output<typeof status> {
  return isFiring ? 'firing' : 'resolved'
}

/** The entries that all have with the same value. */
function commonOf([first = {}, ...others]: readonly Texts[]): Texts {
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  )
}

const OFFSET = 14_695_981_039_346_656_037n
const PRIME = 1_099_511_628_211n
const SEPARATOR = 255

/**
 * Alertmanager's fingerprint of an alert: the 64-bit FNV-1a hash (Fowler, Noll, Vo 1991) of its sorted labels, computed like
 * the package `model` of prometheus/common.
 */
function fingerprintOf(labels: Readonly<Record<string, string>>): string {
  const names = Object.keys(labels).toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  let hash = OFFSET
  for (const text of names.flatMap((name) => [name, labels[name] ?? ''])) {
    for (const byte of [...Buffer.from(text), SEPARATOR]) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME)
  }
  return hash.toString(16).padStart(16, '0')
}
