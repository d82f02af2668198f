import { isoTime } from '../../../clock/iso-time.ts'
import { failureRatio } from '../../../ledger/failure-ratio.ts'
import { alertData, type AlertData } from '../../../alerts/alert-data.ts'
import { failuresOf, type Notification } from '../../../alerts/notification.ts'
import type { RuleLabels } from '../../../alerts/groups.ts'
import type { Severity } from '../../../alerts/match-keys.ts'
import { windowOf } from '../../../alerts/signal.ts'
import type { FinishedCounts } from '../../../ledger/finished-calls.ts'
import { digestLine } from '../../text/digest-text.ts'
import type { DayFigures, Message } from '../../message.ts'
import { descriptionOf, summaryOf } from '../../text/notification-text.ts'
import type { AlertLinks } from '../../text/links.ts'
import { flappedText } from '../../text/flapped-text.ts'
import { storeText } from '../../text/store-text.ts'

/**
 * What the webhook posts. `version` changes only when something is removed or means something else; a receiver ignores
 * fields that it does not know. Times are RFC 3339 in UTC, durations seconds, ratios 0 to 1; null stands for a value that
 * does not exist. A message may come more than once: `target`, `key`, `state` and `at` together name a change.
 */
export type WebhookBody = { version: 1; sent_at: string } & (
  | {
      kind: 'alerts'
      target: string
      severity: Severity
      /** What is new, each alert once and as it is now; those that fire first. */
      alerts: (WebhookAlert & {
        /** How often it fired and resolved between this notification and the one before. */
        flaps: number
        /** The page with the calls behind the value, and with the form that silences the alert; absent without `http.public_url`. */
        links?: AlertLinks
      })[]
      /** Alerts that fired and resolved between deliveries, as at their latest firing. */
      resolved_between: (WebhookAlert & { times: number; worst: number | null; resolved_at: string })[]
      /** Alerts of the target that fire and are silenced. */
      silenced: { alert: string; until: string; reason: string }[]
      /** Alerts that fire and are not sent, because alerts of this message inhibit them. */
      inhibited: { alert: string; target: string; severity: Severity }[]
    }
  | {
      kind: 'digest'
      /** `2026-11-19`, as it was in `timezone`. */
      day: string
      timezone: string
      /** `week_before` is the same weekday before; null where the target did not exist yet. */
      targets: { target: string; summary: string; day: WebhookDay; week_before: WebhookDay | null }[]
    }
  | {
      kind: 'store'
      /** `failing`: nothing new is counted until the store can be written; `recovered`: it can be again. */
      state: 'failing' | 'recovered'
      summary: string
      problem: string
      since: string
      at: string
    }
)

/** One alert. Of a resolved one, `threshold` is the rule's `clear`; null stands for a number that does not exist. */
export type WebhookAlert = Omit<AlertData, 'target' | 'severity' | 'value' | 'threshold' | 'peak'> & {
  value: number | null
  threshold: number | null
  peak: number | null
  /** Names the alert within its target, for good. */
  key: string
  /** `reminder`: it still fires; `expired`: it is not known how it continued. */
  state: Notification['kind']
  /** Only of `expired`. */
  expired_because?: NonNullable<Notification['expiredBecause']>
  /** The rule counts these calls only. */
  match: RuleLabels
  /** Its length; null where the signal is about what is now. */
  window: number | null
  /** How many of them failed in the way that the rule is about; null but for `failure_ratio`. */
  failures: number | null
  /** How they ended; null but for `failure_ratio`. */
  counts: FinishedCounts | null
  firing_since: string
  /** When the value was evaluated, where the calls could not be polled since. */
  as_of?: string
  /** When this change was made; the value may be of later. */
  at: string
  /** In one line, for people. */
  summary: string
  /** The rule's, with its placeholders filled in. */
  description?: string
  runbook_url?: string
  /** The top contributor to the failures. */
  contributor?: {
    label: string
    value: string
    failures: number
    of_failures: number
    calls: number
    of_calls: number
  }
  /** Of `poll_age`: why polls fail. */
  cause?: string
  /** The values of the windows up to then, the oldest first. */
  trend?: (number | null)[]
  /** Of a budget: the share of the limit that the month will come to at this rate. */
  forecast?: number | null
}

/** A day of a target: finished calls, participant minutes, and the share of the calls that failed (null of none). */
export type WebhookDay = { calls: FinishedCounts; minutes: number | null; failure_ratio: number | null }

/** @param now the host's clock (UNIX seconds) */
export function webhookBody(message: Message, now: number): WebhookBody {
  const common = { version: 1, sent_at: isoTime(now) } as const
  switch (message.kind) {
    case 'alerts': {
      const { kind, target, severity, alerts, flapped, silenced, inhibited } = message
      return {
        ...common,
        kind,
        target,
        severity,
        alerts: alerts.map(({ notification, flaps, links }) => ({
          ...alertOf(notification),
          flaps: flaps,
          ...(links && { links }),
        })),
        resolved_between: flapped.map((each) => ({
          ...alertOf(each.notification),
          times: each.times,
          worst: number(each.peak),
          resolved_at: isoTime(each.endedAt),
          summary: flappedText(each),
        })),
        silenced: silenced.map(({ alert, until, reason }) => ({ alert, until: isoTime(until), reason })),
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

function alertOf(notification: Notification): WebhookAlert {
  const { key, kind, expiredBecause, match, signal, runbookUrl } = notification
  const { contributor, trend, forecast, counts, cause } = notification
  const { target: _target, severity: _severity, ...data } = alertData(notification)
  const description = descriptionOf(notification)
  return {
    ...data,
    value: number(data.value),
    threshold: number(data.threshold),
    peak: number(data.peak),
    key,
    state: kind,
    ...(expiredBecause === undefined ? {} : { expired_because: expiredBecause }),
    match,
    window: windowOf(signal) ?? null,
    failures: number(failuresOf(notification)),
    counts: counts ?? null,
    firing_since: isoTime(notification.firingSince),
    ...(notification.asOf === undefined ? {} : { as_of: isoTime(notification.asOf) }),
    at: isoTime(notification.at),
    summary: summaryOf(notification),
    ...(description === undefined ? {} : { description }),
    ...(runbookUrl === undefined ? {} : { runbook_url: runbookUrl }),
    ...(contributor === undefined ? {} : { contributor: contributorOf(contributor) }),
    ...(cause === undefined ? {} : { cause }),
    ...(trend === undefined ? {} : { trend: trend.map(number) }),
    ...(forecast === undefined ? {} : { forecast: number(forecast) }),
  }
}

function contributorOf({ ofFailures, ofCalls, ...contributor }: NonNullable<Notification['contributor']>) {
  return { ...contributor, of_failures: ofFailures, of_calls: ofCalls }
}

function dayOf({ counts, minutes }: DayFigures): WebhookDay {
  return { calls: counts, minutes: number(minutes), failure_ratio: number(failureRatio(counts, 'any')) }
}

/** JSON has no NaN. */
function number(value: number | null | undefined): number | null {
  return value !== null && value !== undefined && Number.isFinite(value) ? value : null
}
