import * as z from 'zod'
import { failuresOf, type Notification } from '../../../alerts/notification.ts'
import { CHANGES, windowOf } from '../../../alerts/signal.ts'
import { PERIODS } from '../../../clock/calendar.ts'
import { isoTime } from '../../../clock/times.ts'
import type { AlertMessage, FlappedAlert, Message } from '../../message.ts'
import { bulletinLine } from '../../text/bulletin.ts'
import { groupLines, groupTitle } from '../../text/group-text.ts'
import { descriptionOf, summaryOf } from '../../../alerts/text/alert-text.ts'
import { flappedText } from '../../text/flapped-text.ts'
import { storeText } from '../../text/store-text.ts'
import { alertChange, alertData } from '../../../views/alert.ts'
import { incident, incidentView } from '../../../views/incident.ts'
import { report } from '../../../views/report.ts'
import { labels, measured, severity } from '../../../views/rule.ts'
import { count, finite, finiteOf, outcomes, time } from '../../../views/shapes.ts'
import { silence } from '../../../views/silence.ts'

const counts = z.object({ ...outcomes, total: count })
const contributor = z.object({
  // Later versions may have more labels.
  label: z.string(),
  value: z.string(),
  failures: count,
  of_failures: count,
  calls: count,
  of_calls: count,
})

/** An alert in a message. Of a resolved one, `threshold` is the rule's `clear`. */
const alert = alertChange.extend({
  signal: measured.signal,
  value: finite,
  threshold: finite,
  peak: finite,
  key: z.string(),
  match: labels,
  window: finite,
  failures: finite,
  counts: counts.nullable(),
  firing_since: time,
  at: time,
  summary: z.string(),
  description: z.string().exactOptional(),
  runbook_url: z.string().exactOptional(),
  contributor: contributor.exactOptional(),
  cause: z.string().exactOptional(),
  trend: z.array(finite).exactOptional(),
  forecast: finite.exactOptional(),
})
/** An alert that is not notified. */
const quiet = z.object({ target: z.string(), key: z.string() })

const every = { version: z.literal(1), sent_at: time }
const links = z.object({ alert: z.string(), calls: z.string().exactOptional(), silence: z.string() })

/**
 * The body that a webhook posts (docs/webhook.md). `version` changes only if a field is removed or changes its meaning; a
 * receiver must ignore fields that it does not know. Times are RFC 3339 in UTC, durations are seconds, ratios are 0 to 1; null
 * means that the value does not exist. A message may arrive more than once: `target`, `key`, `state` and `firing_since` together
 * identify a change.
 */
export const message = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('alerts'),
    ...every,
    group: silence.shape.match,
    target: z.string().nullable(),
    severity,
    summary: z.string().describe('In a sentence, as Slack and mail show it'),
    details: z.array(z.string()).describe('What else is known, in sentences'),
    firing: z.object({ targets: count, of: count }),
    incident: incident.nullable().describe('All that fires in the group; null if nothing does'),
    truncated_alerts: count.describe('How many alerts are left out, because the body would be too large'),
    alerts: z.array(
      z.discriminatedUnion('state', [
        alert.extend({ state: z.enum(CHANGES), flaps: count, links: links.exactOptional() }),
        alert
          .extend({ state: z.literal('over'), times: count, worst: finite, ended_at: time })
          .describe('It fired and ended since the last message'),
        quiet.extend({
          state: z.literal('silenced'),
          until: time,
          reason: z.string(),
          author: z.string().exactOptional(),
        }),
        quiet.extend({ state: z.literal('inhibited'), severity }),
      ]),
    ),
  }),
  z.object({
    kind: z.literal('report'),
    ...every,
    every: z.enum(PERIODS).nullable().describe('Null for the first report of targets that were set up'),
    summary: z.string(),
    truncated_rows: count.describe('How many rows are left out, because the body would be too large'),
    report,
  }),
  z.object({
    kind: z.literal('store'),
    ...every,
    state: z.enum(['failing', 'recovered']),
    summary: z.string(),
    problem: z.string(),
    since: time,
    at: time,
  }),
])
export type MessageView = z.output<typeof message>

/**
 * @param now the host's clock (UNIX seconds)
 * @param most how many alerts or rows it has at most
 */
export function messageView(message: Message, now: number, most = Infinity): MessageView {
  const common = { version: 1, sent_at: isoTime(now) } as const
  switch (message.kind) {
    case 'alerts': {
      const { kind, group, target = null, severity, incident, targets } = message
      const entries = alertEntries(message)
      return {
        ...common,
        kind,
        group,
        target,
        severity,
        summary: groupTitle(message),
        details: groupLines(message),
        firing: { targets: incident?.targets.firing ?? 0, of: targets },
        incident: incident === undefined ? null : incidentView(incident),
        truncated_alerts: Math.max(0, entries.length - most),
        alerts: entries.slice(0, most),
      }
    }
    case 'report': {
      const { kind, every = null, report } = message
      const { rows, coverage } = report
      return {
        ...common,
        kind,
        every,
        summary: bulletinLine(message),
        truncated_rows: Math.max(0, rows.length - most),
        report: {
          ...report,
          rows: rows.slice(0, most),
          coverage: { ...coverage, blind: coverage.blind.slice(0, most) },
        },
      }
    }
    default: {
      const { kind, state, problem, since, at } = message
      const { title, line } = storeText(message)
      return { ...common, kind, state, summary: `${title}. ${line}`, problem, since: isoTime(since), at: isoTime(at) }
    }
  }
}

type AlertEntry = Extract<MessageView, { kind: 'alerts' }>['alerts'][number]

/** What changed first, then what is not notified. */
function alertEntries({ alerts, flapped, silenced, inhibited }: AlertMessage): AlertEntry[] {
  return [
    ...alerts.map(({ notification, flaps, links }) => {
      return { ...viewOf(notification), state: notification.kind, flaps, ...(links && { links }) }
    }),
    ...flapped.map(flappedView),
    ...silenced.map(({ alert: key, until, ...silence }) => {
      return { ...silence, key, state: 'silenced' as const, until: isoTime(until) }
    }),
    ...inhibited.map(({ alert: key, ...one }) => ({ ...one, key, state: 'inhibited' as const })),
  ]
}

function flappedView(flapped: FlappedAlert) {
  const { notification, times, peak, endedAt } = flapped
  return {
    ...viewOf(notification),
    state: 'over' as const,
    times,
    worst: finiteOf(peak),
    ended_at: isoTime(endedAt),
    summary: flappedText(flapped),
  }
}

function viewOf(notification: Notification): z.output<typeof alert> {
  const { key, expiredBecause, match, signal, runbookUrl } = notification
  const { contributor, trend, forecast, counts, cause } = notification
  const data = alertData(notification)
  const description = descriptionOf(notification)
  return {
    ...data,
    value: finiteOf(data.value),
    threshold: finiteOf(data.threshold),
    peak: finiteOf(data.peak),
    key,
    ...(expiredBecause !== undefined && { expired_because: expiredBecause }),
    match,
    window: windowOf(signal) ?? null,
    failures: finiteOf(failuresOf(notification)),
    counts: counts ?? null,
    firing_since: isoTime(notification.firingSince),
    at: isoTime(notification.at),
    summary: summaryOf(notification),
    ...(description !== undefined && { description }),
    ...(runbookUrl !== undefined && { runbook_url: runbookUrl }),
    ...(contributor !== undefined && { contributor: contributorView(contributor) }),
    ...(cause !== undefined && { cause }),
    ...(trend !== undefined && { trend: trend.map(finiteOf) }),
    ...(forecast !== undefined && { forecast: finiteOf(forecast) }),
  }
}

function contributorView({ ofFailures, ofCalls, ...contributor }: NonNullable<Notification['contributor']>) {
  return { ...contributor, of_failures: ofFailures, of_calls: ofCalls }
}
