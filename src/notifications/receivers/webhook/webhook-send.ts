import { Headers } from 'undici'
import { alertData } from '../../../alerts/alert-data.ts'
import { failuresOf, type Notification } from '../../../alerts/notification.ts'
import { windowOf } from '../../../alerts/signal.ts'
import { isoTime } from '../../../clock/times.ts'
import { failureRatio } from '../../../ledger/failure-ratio.ts'
import type { DayFigures, Message } from '../../message.ts'
import { digestLine } from '../../text/digest-text.ts'
import { flappedText, descriptionOf, summaryOf } from '../../text/notification-text.ts'
import { storeText } from '../../text/store-text.ts'
import { httpSender } from '../../../network/http-sender.ts'
import type { SendContext, Send } from '../../receiver.ts'
import { alertmanagerBody } from './alertmanager-body.ts'
import type { WebhookConfig } from './webhook.ts'

export type WebhookBody = ReturnType<typeof webhookBody>

/**
 * The body that the webhook posts (docs/webhook.md). `version` changes only if a field is removed or changes its meaning; a
 * receiver must ignore fields that it does not know. Times are RFC 3339 in UTC, durations are seconds, ratios are 0 to 1; null
 * means that the value does not exist. A message may arrive more than once: `target`, `key`, `state` and `at` together identify
 * a change.
 *
 * @param now the host's clock (UNIX seconds)
 */
export function webhookBody(message: Message, now: number) {
  const common = { version: 1, sent_at: isoTime(now) } as const
  switch (message.kind) {
    case 'alerts': {
      const { kind, group, target = null, severity, firing, alerts, flapped, silenced, inhibited } = message
      return {
        ...common,
        kind,
        group,
        target,
        severity,
        firing,
        alerts: alerts.map(({ notification, flaps, links }) => ({
          ...alertOf(notification),
          flaps,
          ...(links && { links }),
        })),
        resolved_between: flapped.map((each) => ({
          ...alertOf(each.notification),
          times: each.times,
          worst: number(each.peak),
          resolved_at: isoTime(each.endedAt),
          summary: flappedText(each),
        })),
        silenced: silenced.map(({ until, ...silence }) => ({ ...silence, until: isoTime(until) })),
        inhibited,
      }
    }
    case 'digest': {
      const { kind, day, timezone, targets } = message
      return {
        ...common,
        kind,
        day,
        timezone,
        targets: targets.map((each) => ({
          target: each.target,
          summary: digestLine(each),
          day: dayOf(each.day),
          week_before: each.weekBefore === undefined ? null : dayOf(each.weekBefore),
        })),
      }
    }
    default: {
      const { kind, state, problem, since, at } = message
      const { title, before, after } = storeText(message)
      const summary = `${title}. ${before}${problem}${after}`
      return { ...common, kind, state, summary, problem, since: isoTime(since), at: isoTime(at) }
    }
  }
}

/** One alert. Of a resolved one, `threshold` is the rule's `clear`. */
function alertOf(notification: Notification) {
  const { key, kind, expiredBecause, match, signal, runbookUrl } = notification
  const { contributor, trend, forecast, counts, cause, asOf } = notification
  const data = alertData(notification)
  const description = descriptionOf(notification)
  return {
    ...data,
    value: number(data.value),
    threshold: number(data.threshold),
    peak: number(data.peak),
    key,
    state: kind,
    ...(expiredBecause !== undefined && { expired_because: expiredBecause }),
    match,
    window: windowOf(signal) ?? null,
    failures: number(failuresOf(notification)),
    counts: counts ?? null,
    firing_since: isoTime(notification.firingSince),
    ...(asOf !== undefined && { as_of: isoTime(asOf) }),
    at: isoTime(notification.at),
    summary: summaryOf(notification),
    ...(description !== undefined && { description }),
    ...(runbookUrl !== undefined && { runbook_url: runbookUrl }),
    ...(contributor !== undefined && { contributor: contributorOf(contributor) }),
    ...(cause !== undefined && { cause }),
    ...(trend !== undefined && { trend: trend.map(number) }),
    ...(forecast !== undefined && { forecast: number(forecast) }),
  }
}

function contributorOf({ ofFailures, ofCalls, ...contributor }: NonNullable<Notification['contributor']>) {
  // Later versions may have more labels.
  const label: string = contributor.label
  return { ...contributor, label, of_failures: ofFailures, of_calls: ofCalls }
}

/** A day of a target: finished calls, participant minutes, and the share of the calls that failed (null of none). */
function dayOf({ counts, minutes }: DayFigures) {
  return { calls: counts, minutes: number(minutes), failure_ratio: number(failureRatio(counts, 'any')) }
}

/** JSON has no NaN, so it becomes null. */
function number(value: number | null | undefined): number | null {
  return value !== null && value !== undefined && Number.isFinite(value) ? value : null
}

/** Posts each message as JSON. A configured header replaces the header of the same name. */
export function webhookSend(
  { url, format, headers }: WebhookConfig,
  { clock, name: receiver, pageUrl }: SendContext,
): Send {
  const deliver = httpSender({ receiver: 'the webhook', url, clock })
  return async (message) => {
    const content =
      format === 'alertmanager' ? alertmanagerBody(message, { receiver, pageUrl }) : webhookBody(message, clock.wall())
    if (content === undefined) return
    await deliver((request) => {
      const sent = new Headers({ 'content-type': 'application/json', 'user-agent': 'callwatch' })
      for (const [name, value] of Object.entries(headers)) sent.set(name, value)
      // Not every receiver accepts half of a surrogate pair, although it is valid JSON.
      const body = JSON.stringify(content, (_name, value: unknown) =>
        typeof value === 'string' ? value.toWellFormed() : value,
      )
      return request({ method: 'POST', headers: sent, body })
    })
  }
}
