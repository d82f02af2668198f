import { stat, graph, healthTimeline, list } from '../panels.ts'
import { quantiles, T, WINDOW } from '../queries.ts'

export function alerts() {
  return [
    list({
      title: 'Firing alerts',
      about: 'Alerts of callwatch. Alertmanager has the alerts of Prometheus.',
      width: 8,
      hidden: ['Time', 'Value'],
      noValue: 'none',
      queries: {
        '': `max by (target, alert, severity, type, mode, receiver_type) (callwatch_alert_state{${T}}) == 2`,
      },
    }),
    graph({
      title: 'Alerts over time',
      about: 'Alert instances that are firing or pending.',
      width: 4,
      stacked: true,
      queries: {
        '{{alert}} {{state}}': `sum by (alert, state) (max by (target, alert, severity, state) (callwatch_alerts{${T}}))`,
      },
    }),
    graph({
      title: 'Notifications pending',
      about:
        'Messages that could not be sent yet: the receiver fails, or refuses them. Only the daemon that sends knows them.',
      width: 4,
      queries: { '{{receiver}}': 'sum by (receiver) (max by (job, receiver) (callwatch_notifications_pending))' },
    }),
    graph({
      title: 'Oldest notification',
      about: 'For how long an attempt to send one of these messages has failed.',
      width: 4,
      unit: 's',
      queries: {
        '{{receiver}}': 'max by (receiver) (callwatch_notification_oldest_pending_seconds)',
      },
    }),
    graph({
      title: 'Notifications, last hour',
      about: 'Attempts to deliver, by outcome. A message whose attempt failed is retried.',
      width: 4,
      colors: { '/ dropped$/': 'red' },
      queries: {
        '{{receiver}} {{outcome}}': 'sum by (receiver, outcome) (increase(callwatch_notifications_total[1h]))',
      },
    }),
    graph({
      title: 'Values of the rules',
      about:
        'The value that a rule compares with its threshold, as a share of the threshold: a rule with above fires above 100%. A rule whose threshold is 0 is not shown.',
      width: 24,
      unit: 'percentunit',
      queries: {
        '{{alert}} {{target}}': `max by (target, alert) (callwatch_rule_value{${T}} / (callwatch_rule_threshold{${T}} > 0))`,
      },
    }),
    graph({
      title: 'Expected by the rules',
      about:
        "What a rule with relative_to or above_usual compares with: the median of the same window in the last weeks, in the signal's unit, or the usual share. Absent without enough calls then.",
      width: 24,
      queries: { '{{alert}} {{target}}': `max by (target, alert) (callwatch_rule_expected{${T}})` },
    }),
  ]
}

/** Webhooks of events. Every daemon shows their gauges, the leader counts. */
export function webhooks() {
  const each = (gauge: string) => `max by (webhook) (${gauge})`
  return [
    graph({
      title: 'Events pending',
      about: 'Events that a webhook has not got yet. Those that it has not read count as well, wanted or not.',
      width: 6,
      queries: { '{{webhook}}': each('callwatch_webhook_pending_events') },
    }),
    graph({
      title: 'Age of the oldest pending event',
      about: 'How far a webhook is behind. The shipped rule CallwatchWebhookBehind fires after 15 minutes.',
      width: 6,
      unit: 's',
      queries: { '{{webhook}}': each('callwatch_webhook_oldest_pending_seconds') },
    }),
    graph({
      title: 'Events by outcome',
      about:
        'Attempts to deliver events, by what became of them. Expired events were deleted by events.retention before they were delivered.',
      width: 6,
      unit: 'ops',
      queries: {
        '{{webhook}} {{outcome}}':
          'sum by (webhook, outcome) (rate(callwatch_webhook_deliveries_total[$__rate_interval]))',
      },
    }),
    graph({
      title: 'Dead letters, paused webhooks',
      about:
        'Events that a webhook refused for ten minutes, until they are replayed; and 1 for a webhook that is paused.',
      width: 6,
      queries: {
        '{{webhook}} dead letters': each('callwatch_webhook_dead_letters'),
        '{{webhook}} paused': each('callwatch_webhook_paused'),
      },
    }),
  ]
}

/** Webhooks of the calls service, which any daemon receives. */
export function serviceWebhooks() {
  const ends = (matchers: string) =>
    `sum by (target) (increase(callwatch_service_webhook_ends_total{${matchers}}[${WINDOW}]))`
  return [
    graph({
      title: 'Webhooks received',
      about: 'Webhooks of the calls service by outcome. Only those with the outcome hint make callwatch poll at once.',
      width: 12,
      unit: 'ops',
      queries: {
        '{{target}} {{outcome}}': `sum by (target, outcome) (rate(callwatch_service_webhooks_total{${T}}[$__rate_interval]))`,
      },
    }),
    graph({
      title: 'Ends without a webhook',
      about:
        'Share of the ends of calls that no webhook announced within a minute: programs that rely on webhooks miss them.',
      width: 6,
      unit: 'percentunit',
      queries: { '{{target}}': `${ends(`announced="no", ${T}`)} / ${ends(T)}` },
    }),
    graph({
      title: 'Delay of webhooks',
      about: 'Time from the end of a call until the webhook that announced it came.',
      width: 6,
      unit: 's',
      queries: {
        '{{target}} 95th percentile': `histogram_quantile(0.95, sum by (target, le) (rate(callwatch_service_webhook_lag_seconds_bucket{${T}}[$__rate_interval])))`,
      },
    }),
  ]
}

/** How daemons with a shared store divide the targets. */
export function daemons() {
  return [
    stat({
      title: 'Unowned targets',
      about:
        'Configured targets that no daemon owns which Prometheus scrapes. During a failover this is above 0 for a scrape or two; the shipped rule CallwatchUnownedTargets waits for two minutes.',
      width: 4,
      decimals: 0,
      limits: { warning: 1, bad: 1 },
      queries: {
        '{{job}}': 'clamp_min(max by (job) (callwatch_targets) - sum by (job) (callwatch_targets_owned), 0)',
      },
    }),
    graph({
      title: 'Targets by daemon',
      about: 'Targets that each daemon owns and polls. A single daemon owns all.',
      width: 12,
      stacked: true,
      queries: { '{{instance}}': 'callwatch_targets_owned' },
    }),
    graph({
      title: 'Leases lost, last hour',
      about:
        'How often each daemon did not renew its lease in time and released all its targets. Causes are a slow or unreachable database, or a suspended process.',
      width: 8,
      queries: { '{{instance}}': 'increase(callwatch_lease_lost_total[1h])' },
    }),
  ]
}

export function processes() {
  const ofCallwatch = 'and on (job, instance) callwatch_build_info'
  return [
    healthTimeline({
      title: 'Store writable, configuration loaded',
      about:
        'While commits fail, callwatch counts nothing, and catches up afterwards. The log has the errors of a rejected configuration.',
      width: 8,
      queries: {
        '{{instance}} store': 'callwatch_store_writable',
        '{{instance}} configuration': 'callwatch_config_last_reload_successful',
      },
    }),
    graph({
      title: 'Commit duration',
      about: 'Duration of a commit to the store.',
      width: 8,
      unit: 's',
      queries: quantiles('callwatch_store_commit_duration_seconds', [0.5, 0.99], ''),
    }),
    graph({
      title: 'Memory, size of the store',
      about: 'Resident set size of each process, and what the store takes on disk.',
      width: 8,
      unit: 'bytes',
      queries: {
        '{{instance}}': `process_resident_memory_bytes ${ofCallwatch}`,
        'store of {{job}}': 'max by (job) (callwatch_store_bytes)',
      },
    }),
    graph({
      title: 'CPU',
      about: 'CPU cores that each process uses.',
      width: 8,
      queries: { '{{instance}}': `rate(process_cpu_seconds_total[$__rate_interval]) ${ofCallwatch}` },
    }),
    graph({
      title: 'Event loop lag, 99th percentile',
      about: 'How long a timer or request waits for other work of the process.',
      width: 8,
      unit: 's',
      queries: { '{{instance}}': `nodejs_eventloop_lag_p99_seconds ${ofCallwatch}` },
    }),
    graph({
      title: 'Log-ins failed, silences changed, last hour',
      about:
        'Wrong user names or passwords, and silences added or ended over the API. The log has users and addresses.',
      width: 8,
      queries: {
        '{{instance}} log-ins failed': 'increase(callwatch_login_failures_total[1h])',
        '{{instance}} silences {{change}}': 'increase(callwatch_silence_changes_total[1h])',
      },
    }),
    graph({
      title: 'Internal errors, last hour',
      about: 'Bugs in callwatch, by the target whose polls they interrupt. The log has the stack; please report it.',
      width: 8,
      queries: { '{{target}}': `sum by (target) (increase(callwatch_internal_errors_total{${T}}[1h]))` },
    }),
    graph({
      title: 'Log lines dropped, last hour',
      about: 'Lines that a daemon could not write to its log, because the disk was full or nothing read the pipe.',
      width: 8,
      queries: { '{{instance}}': 'increase(callwatch_log_lines_dropped_total[1h])' },
    }),
    list({
      title: 'Daemons',
      about: 'The callwatch processes that Prometheus scrapes.',
      width: 8,
      hidden: ['Time', 'Value', '__name__'],
      queries: { '': 'callwatch_build_info' },
    }),
  ]
}
