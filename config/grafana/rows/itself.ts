import { figure, graph, healthTimeline, list } from '../panels.ts'
import { quantiles, T } from '../queries.ts'

export function alerts() {
  const each = 'max by (target, alert, severity, state)'
  return [
    list({
      title: 'Alerts that fire',
      about: "callwatch's own alerts; those of Prometheus stand in Alertmanager.",
      width: 8,
      hidden: ['Time', 'state'],
      noneMeans: 'none',
      queries: { '': `${each} (callwatch_alerts{state="firing", ${T}}) > 0` },
    }),
    graph({
      title: 'Alerts over time',
      about: 'Instances that fire or are pending.',
      width: 8,
      stacked: true,
      queries: { '{{alert}} {{state}}': `sum by (alert, state) (${each} (callwatch_alerts{${T}}))` },
    }),
    graph({
      title: 'Notifications pending',
      about: 'Messages in the outbox, which daemons share. They wait for as long as a channel cannot be reached.',
      width: 4,
      queries: { '{{notifier}}': 'sum by (notifier) (max by (job, notifier) (callwatch_notifications_pending))' },
    }),
    graph({
      title: 'Notifications, last hour',
      about: 'dropped: the channel refused it for good.',
      width: 4,
      colors: { dropped: 'red' },
      queries: {
        '{{notifier}} {{outcome}}': 'sum by (notifier, outcome) (increase(callwatch_notifications_total[1h]))',
      },
    }),
  ]
}

/** How daemons that share a store share the targets. */
export function daemons() {
  return [
    figure({
      title: 'Targets that nobody owns',
      about:
        'Configured, and watched by none of the daemons that Prometheus reads. While targets move it is more than 0 for a scrape or two; the shipped rule UnownedTargets waits two minutes.',
      width: 4,
      decimals: 0,
      limits: { warning: 1, bad: 1 },
      queries: {
        '{{job}}': 'clamp_min(max by (job) (callwatch_targets) - sum by (job) (callwatch_targets_owned), 0)',
      },
    }),
    graph({
      title: 'Targets by daemon',
      about: 'Targets that each daemon owns, and watches. One that is alone owns all.',
      width: 12,
      stacked: true,
      queries: { '{{instance}}': 'callwatch_targets_owned' },
    }),
    graph({
      title: 'Leases lost, last hour',
      about:
        'By daemon: how often it could not renew its lease in time, and let go of all its targets. The database was slow or away, or the process was halted.',
      width: 8,
      queries: { '{{instance}}': 'increase(callwatch_lease_lost_total[1h])' },
    }),
  ]
}

export function itself() {
  const ofCallwatch = 'and on (job, instance) callwatch_build_info'
  return [
    healthTimeline({
      title: 'Store writable, configuration in force',
      about: 'While commits fail nothing is counted; nothing is lost either. A refused configuration is in the log.',
      width: 8,
      queries: {
        '{{instance}} store': 'callwatch_store_writable',
        '{{instance}} configuration': 'callwatch_config_last_reload_successful',
      },
    }),
    graph({
      title: 'Commit',
      about: 'Time that a commit to the store takes.',
      width: 8,
      unit: 's',
      queries: quantiles('callwatch_store_commit_duration_seconds', [0.5, 0.99], ''),
    }),
    graph({
      title: 'Memory',
      about: 'Resident set of the process.',
      width: 8,
      unit: 'bytes',
      queries: { '{{instance}}': `process_resident_memory_bytes ${ofCallwatch}` },
    }),
    graph({
      title: 'CPU',
      about: 'Cores in use.',
      width: 8,
      queries: { '{{instance}}': `rate(process_cpu_seconds_total[$__rate_interval]) ${ofCallwatch}` },
    }),
    graph({
      title: 'Event loop lag, 99 %',
      about: 'How long the process lets others wait.',
      width: 8,
      unit: 's',
      queries: { '{{instance}}': `nodejs_eventloop_lag_p99_seconds ${ofCallwatch}` },
    }),
    graph({
      title: 'Log-ins failed, silences changed, last hour',
      about: 'Wrong user names or passwords, and silences added or ended over the API. Who it was is in the log.',
      width: 8,
      queries: {
        '{{instance}} log-ins failed': 'increase(callwatch_login_failures_total[1h])',
        '{{instance}} silences {{change}}': 'increase(callwatch_silence_changes_total[1h])',
      },
    }),
    graph({
      title: 'Internal errors, last hour',
      about:
        'Mistakes of callwatch itself, by the target whose polls they stop for a while. The stack is in the log: please report it.',
      width: 8,
      queries: { '{{target}}': `sum by (target) (increase(callwatch_internal_errors_total{${T}}[1h]))` },
    }),
    list({
      title: 'Daemons',
      about: 'The callwatch processes that Prometheus reads.',
      width: 8,
      hidden: ['Time', 'Value', '__name__'],
      queries: { '': 'callwatch_build_info' },
    }),
  ]
}
