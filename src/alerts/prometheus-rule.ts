import { formatDuration } from '../schema/duration-text.ts'
import { definitionOf } from './definition-of.ts'
import {
  alertNameOf,
  LAST_POLL,
  NotExpressible,
  WHOLE_VALUE,
  type PrometheusQuery,
  type PrometheusRecord,
  UNOWNED,
} from './promql.ts'
import { RULE_LABELS } from './groups.ts'
import type { Rule } from './rule.ts'
import { runbookOf, runbookPage } from './default-rules.ts'
import { describedWindow, windowOf, type Unit } from './signal.ts'

/** A Prometheus alerting rule. Durations in seconds. */
export type PrometheusRule = {
  alert: string
  expr: string
  for: number
  keepFiringFor: number
  labels: Record<string, string>
  annotations: Record<string, string>
  /** The recording rules that it needs. */
  records: readonly PrometheusRecord[]
}

/**
 * The Prometheus rule that is equivalent to one of callwatch's. It uses only callwatch's counters and two timestamps, not its
 * windows or results. It has the same hysteresis, and the same treatment of too few calls and of a target that cannot be
 * polled.
 *
 * @param interval seconds between two polls
 * @param runbooks the address of the runbooks of the shipped alerts
 * @throws {NotExpressible} if PromQL cannot express the rule
 */
export function prometheusRule(rule: Rule, interval: number, runbooks?: string): PrometheusRule {
  const { signal, severity, keepFiringFor, onlyIf } = rule
  if (onlyIf !== undefined && windowOf(signal) === undefined) {
    throw new NotExpressible(`${signal.name} has no window that only_if could compare with`)
  }
  const query = definitionOf(signal).prometheus?.(rule, interval)
  if (query === undefined) {
    throw new NotExpressible(`${signal.name} has no counter that callwatch exports`)
  }
  return {
    alert: alertNameOf(rule),
    expr: query.expr,
    for: rule.for,
    keepFiringFor,
    labels: { severity },
    annotations: annotationsOf(rule, query, runbooks),
    records: [...query.records, LAST_POLL],
  }
}

/**
 * The annotation that links the runbook of an alert about callwatch. Without an address there is none: receivers would show a
 * relative path as a broken link.
 *
 * @param runbooks the address of the runbooks
 */
function linkOf(alert: string, runbooks: string | undefined): Record<string, string> {
  const url = runbookPage(alert, runbooks)
  return url === undefined ? {} : { runbook_url: literal(url) }
}

/**
 * The summary in one line, the rule's description and its runbook, as Prometheus templates. Filled in, they read like
 * callwatch's own messages.
 */
function annotationsOf(rule: Rule, query: PrometheusQuery, runbooks: string | undefined): Record<string, string> {
  const { description } = rule
  const url = runbookOf(rule, runbooks)
  return {
    summary: summaryOf(rule, query),
    ...(description === undefined ? {} : { description: templateOf(description.toWellFormed(), rule, query) }),
    ...(url === undefined ? {} : { runbook_url: literal(url.toWellFormed()) }),
  }
}

/** `HighFailureRate on production (type=video): 42.5%, threshold 30%`. */
function summaryOf(rule: Rule, { value }: PrometheusQuery): string {
  const { unit } = definitionOf(rule.signal)
  const group = rule.by.map((label) => `${label}={{ $labels.${label} }}`).join(', ')
  const measured = value ?? `${valueIn(unit)}, threshold ${thresholdIn(unit, rule.threshold)}`
  return `${literal(rule.name.toWellFormed())} on {{ $labels.target }}${group && ` (${group})`}: ${measured}`
}

/** For a placeholder without a value, as in callwatch's own messages. */
const NOTHING = 'n/a'

function templateOf(description: string, rule: Rule, { value, calls }: PrometheusQuery): string {
  const { unit } = definitionOf(rule.signal)
  const window = describedWindow(rule.signal)
  const fillings: Record<string, string> = {
    value: value ?? valueIn(unit),
    threshold: thresholdIn(unit, rule.threshold),
    calls: calls ?? NOTHING,
    window: window === undefined ? NOTHING : formatDuration(window),
    labels: labelsOf(rule),
  }
  // Every second part is the name of a placeholder.
  const parts = description.split(/\{(value|threshold|calls|window|labels)\}/)
  return parts.map((part, i) => (i % 2 === 0 ? literal(part) : fillings[part])).join('')
}

/** Escapes braces. Two braces would begin a template action, and so would one next to the action that follows it. */
function literal(text: string): string {
  return text.replaceAll(/\{+/g, (braces) => `{{ "${braces}" }}`)
}

function valueIn(unit: Unit): string {
  if (unit === 'share') return '{{ $value | humanizePercentage }}'
  if (unit === 'seconds') return '{{ $value | humanizeDuration }}'
  return `${WHOLE_VALUE} {{ if eq (printf "%.0f" $value) "1" }}call{{ else }}calls{{ end }}`
}

function thresholdIn(unit: Unit, threshold: number): string {
  if (unit === 'share') return `${Number((threshold * 100).toPrecision(6))}%`
  if (unit === 'seconds') return formatDuration(threshold)
  return `${threshold} ${threshold === 1 ? 'call' : 'calls'}`
}

/** The calls of the alert: `type={{ $labels.type }}, mode=call`. If it selects all calls, its target. */
function labelsOf({ match, by }: Rule): string {
  const labels = RULE_LABELS.flatMap((label) => {
    if (by.includes(label)) return [`${label}={{ $labels.${label} }}`]
    return match[label] === undefined ? [] : [`${label}=${match[label]}`]
  })
  return labels.join(', ') || 'target={{ $labels.target }}'
}

/** How long an event may wait (seconds). */
const MAX_WAIT_SECONDS = 900
/** The share of ends that no webhook of the service announced, and of how many ends at least. */
const MAX_MISSED = 0.05
const MIN_ENDS = 20

/**
 * Alerts about the daemon, the webhooks of events and the calls service. No configured rule can fire if no daemon owns a target, because
 * a daemon without targets evaluates nothing.
 */
const OWN_ALERTS: readonly Parts[] = [
  {
    alert: 'CallwatchUnownedTargets',
    expr: `${UNOWNED} > 0`,
    severity: 'critical',
    summary: '{{ $value }} of the targets are owned by no daemon',
    description:
      '{{ $value }} of the targets are owned by no daemon that Prometheus scrapes: their calls are ' +
      'counted late, and their alerts do not fire.',
    failsOver: true,
  },
  {
    alert: 'CallwatchWebhookBehind',
    expr: `max by (webhook) (callwatch_webhook_oldest_pending_seconds) > ${MAX_WAIT_SECONDS}`,
    severity: 'warning',
    summary: 'The webhook {{ $labels.webhook }} is {{ $value | humanizeDuration }} behind',
    description:
      'The webhook {{ $labels.webhook }} has not got events that were found {{ $value | humanizeDuration }} ago.',
  },
  {
    alert: 'CallwatchWebhookDeadLetters',
    expr: 'max by (webhook) (callwatch_webhook_dead_letters) > 0',
    severity: 'warning',
    summary: 'The webhook {{ $labels.webhook }} has {{ $value }} dead letters',
    description:
      'The webhook {{ $labels.webhook }} has refused {{ $value }} events for ten minutes each: ' +
      '`callwatch events webhooks dead {{ $labels.webhook }}` shows them.',
  },
  {
    alert: 'CallwatchWebhookEventsExpired',
    expr: 'sum by (webhook) (increase(callwatch_webhook_deliveries_total{outcome=~"expired|gap"}[1h])) > 0',
    severity: 'critical',
    summary: 'The webhook {{ $labels.webhook }} will never get some events',
    description:
      'Events expired before they were delivered to the webhook {{ $labels.webhook }}, or its position in the event log no longer exists: it will never get them.',
  },
  {
    alert: 'CallwatchServiceWebhooksMissed',
    expr: `${endsOf('no')} / ${endsOf('yes|no')} > ${MAX_MISSED} and ${endsOf('yes|no')} >= ${MIN_ENDS}`,
    severity: 'warning',
    summary: '{{ $value | humanizePercentage }} of the ends of {{ $labels.target }} had no webhook',
    description:
      'No webhook of the calls service announced {{ $value | humanizePercentage }} of the calls of {{ $labels.target }} that ended in ' +
      'the last hour. callwatch counted them, but programs that rely on webhooks alone have lost them.',
  },
]

type Parts = {
  alert: string
  expr: string
  severity: 'warning' | 'critical'
  summary: string
  description: string
  /** Whether a failover ends the alert. */
  failsOver?: true
}

/** Ends of the last hour, by whether a webhook announced them. */
function endsOf(announced: string): string {
  return `sum by (target) (increase(callwatch_service_webhook_ends_total{announced=~"${announced}"}[1h]))`
}

/** With short leases, a target without an owner for longer than this (seconds) means that something is wrong. */
const MAX_FAILOVER_SECONDS = 120

/**
 * Alerts about callwatch itself. Every daemon exports their gauges; only the leader exports their counters.
 *
 * @param lease seconds for which a daemon owns its targets without a renewal; undefined for a single daemon
 * @param runbooks the address of the runbooks
 */
export function ownRules(lease = 0, runbooks?: string): PrometheusRule[] {
  return OWN_ALERTS.map(({ alert, expr, severity, summary, description, failsOver }) => ({
    alert,
    expr,
    for: failsOver === true ? Math.max(MAX_FAILOVER_SECONDS, 2 * lease) : 60,
    keepFiringFor: 0,
    labels: { severity },
    annotations: { summary, description, ...linkOf(alert, runbooks) },
    records: [],
  }))
}
