import { linkOf, type PrometheusRule } from './prometheus-rule.ts'
import { UNOWNED } from './promql.ts'

/** How long an event may wait (seconds). */
const MAX_WAIT_SECONDS = 900
/** The share of ends that no webhook of the service announced, and of how many ends at least. */
const MAX_MISSED = 0.1
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
