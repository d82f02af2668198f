import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const LAG_SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 900, 3600]
const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

export type Definition = { name: string; help: string; labels: readonly string[]; buckets?: number[] }

/** The metrics about callwatch itself. They are no part of the durable state and start again with the process. */
export const COUNTER_DEFINITIONS = {
  polls: {
    name: 'callwatch_polls_total',
    help: 'complete, incremental, partial, failed; skipped where a tick fell into a running cycle',
    labels: ['target', 'outcome'],
  },
  requests: {
    name: 'callwatch_api_requests_total',
    help: 'list_calls, get_call; HTTP code, or timeout, network, invalid',
    labels: ['target', 'operation', 'code'],
  },
  notifications: {
    name: 'callwatch_notifications_total',
    help: 'sent, retried, dropped',
    labels: ['notifier', 'outcome'],
  },
  loginFailures: {
    name: 'callwatch_login_failures_total',
    help: 'Log-ins with a wrong user name or password',
    labels: [],
  },
  silenceChanges: {
    name: 'callwatch_silence_changes_total',
    help: 'Silences changed over the API: added, ended',
    labels: ['change'],
  },
  internalErrors: {
    name: 'callwatch_internal_errors_total',
    help: 'Mistakes of callwatch itself that ended the work on a target, which is tried again; please report them',
    labels: ['target'],
  },
  leaseLost: {
    name: 'callwatch_lease_lost_total',
    help: 'Times that this daemon could not renew its lease of a shared store in time, and let go of its targets',
    labels: [],
  },
} satisfies Record<string, Definition>

export const GAUGE_DEFINITIONS = {
  up: { name: 'callwatch_up', help: '1 if the last look was good', labels: ['target'] },
  rateLimitRemaining: {
    name: 'callwatch_api_ratelimit_remaining',
    help: 'From the response headers, absent if never sent',
    labels: ['target'],
  },
  notificationsPending: {
    name: 'callwatch_notifications_pending',
    help: 'Waiting in the outbox',
    labels: ['notifier'],
  },
  targets: { name: 'callwatch_targets', help: 'Configured targets, whichever daemon owns them', labels: [] },
  targetsOwned: { name: 'callwatch_targets_owned', help: 'Targets that this daemon owns, and watches', labels: [] },
  storeWritable: { name: 'callwatch_store_writable', help: '0 while commits fail', labels: [] },
  reloadSuccessful: {
    name: 'callwatch_config_last_reload_successful',
    help: '1 if the configuration that was last read is in force',
    labels: [],
  },
  buildInfo: {
    name: 'callwatch_build_info',
    help: '1',
    labels: ['version', 'node'],
  },
} satisfies Record<string, Definition>

export const HISTOGRAM_DEFINITIONS = {
  pollDuration: {
    name: 'callwatch_poll_duration_seconds',
    help: 'One poll, from the first request to the commit',
    labels: ['target'],
    buckets: SECONDS,
  },
  detectionLag: {
    name: 'callwatch_detection_lag_seconds',
    help: 'endedAt to the moment callwatch knew',
    labels: ['target'],
    buckets: LAG_SECONDS,
  },
  requestDuration: {
    name: 'callwatch_api_request_duration_seconds',
    help: 'One request to the calls service, its whole answer included',
    labels: ['target', 'operation'],
    buckets: SECONDS,
  },
  commitDuration: {
    name: 'callwatch_store_commit_duration_seconds',
    help: 'One commit to the store',
    labels: [],
    buckets: COMMIT_SECONDS,
  },
} satisfies Record<string, Definition>

export type OperationalMetrics = { [K in keyof typeof COUNTER_DEFINITIONS]: Counter } & {
  [K in keyof typeof GAUGE_DEFINITIONS]: Gauge
} & { [K in keyof typeof HISTOGRAM_DEFINITIONS]: Histogram }

/** Makes the operational metrics in a registry. */
export function operationalMetrics(registry: Registry): OperationalMetrics {
  const registers = [registry]
  const counter = ({ name, help, labels }: Definition) => new Counter({ name, help, labelNames: labels, registers })
  const gauge = ({ name, help, labels }: Definition) => new Gauge({ name, help, labelNames: labels, registers })
  const histogram = ({ name, help, labels, buckets = [] }: Definition) =>
    new Histogram({ name, help, labelNames: labels, buckets, registers })
  return {
    polls: counter(COUNTER_DEFINITIONS.polls),
    requests: counter(COUNTER_DEFINITIONS.requests),
    notifications: counter(COUNTER_DEFINITIONS.notifications),
    loginFailures: counter(COUNTER_DEFINITIONS.loginFailures),
    silenceChanges: counter(COUNTER_DEFINITIONS.silenceChanges),
    internalErrors: counter(COUNTER_DEFINITIONS.internalErrors),
    leaseLost: counter(COUNTER_DEFINITIONS.leaseLost),
    up: gauge(GAUGE_DEFINITIONS.up),
    rateLimitRemaining: gauge(GAUGE_DEFINITIONS.rateLimitRemaining),
    notificationsPending: gauge(GAUGE_DEFINITIONS.notificationsPending),
    targets: gauge(GAUGE_DEFINITIONS.targets),
    targetsOwned: gauge(GAUGE_DEFINITIONS.targetsOwned),
    storeWritable: gauge(GAUGE_DEFINITIONS.storeWritable),
    reloadSuccessful: gauge(GAUGE_DEFINITIONS.reloadSuccessful),
    buildInfo: gauge(GAUGE_DEFINITIONS.buildInfo),
    pollDuration: histogram(HISTOGRAM_DEFINITIONS.pollDuration),
    detectionLag: histogram(HISTOGRAM_DEFINITIONS.detectionLag),
    requestDuration: histogram(HISTOGRAM_DEFINITIONS.requestDuration),
    commitDuration: histogram(HISTOGRAM_DEFINITIONS.commitDuration),
  }
}
