import type { PrometheusRule } from './prometheus-rule.ts'

/** How long an event may wait (seconds). */
const LATE = 900

/** Alerts about the webhooks of events. Every daemon shows their gauges, the leader counts. */
export const WEBHOOK_RULES: readonly PrometheusRule[] = [
  ruleOf({
    alert: 'WebhookBehind',
    expr: `max by (webhook) (callwatch_webhook_oldest_pending_seconds) > ${LATE}`,
    severity: 'warning',
    description:
      'The webhook {{ $labels.webhook }} has not got events that were found {{ $value | humanizeDuration }} ago.',
  }),
  ruleOf({
    alert: 'WebhookDeadLetters',
    expr: 'max by (webhook) (callwatch_webhook_dead_letters) > 0',
    severity: 'warning',
    description:
      'The webhook {{ $labels.webhook }} has refused {{ $value }} events for ten minutes each: ' +
      '`callwatch events webhooks dead {{ $labels.webhook }}` shows them.',
  }),
  ruleOf({
    alert: 'WebhookEventsExpired',
    expr: 'sum by (webhook) (increase(callwatch_webhook_deliveries_total{outcome=~"expired|gap"}[1h])) > 0',
    severity: 'critical',
    description:
      'Events expired before they were delivered to the webhook {{ $labels.webhook }}, or the log does not go on where it was: it will never get them.',
  }),
]

type Parts = { alert: string; expr: string; severity: 'warning' | 'critical'; description: string }

function ruleOf({ alert, expr, severity, description }: Parts): PrometheusRule {
  return { alert, expr, for: 60, keepFiringFor: 0, labels: { severity }, annotations: { description }, records: [] }
}
