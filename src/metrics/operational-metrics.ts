import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { TRIGGERS } from '../ledger/hint.ts'

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const LAG_SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 900, 3600]
const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

export type MetricDefinition = {
  name: string
  help: string
  labels: readonly string[]
  /**
   * The values of the labels after the first one, for which series start at 0 with their target, receiver or webhook
   * (series.ts). A gauge without this starts with its first value.
   */
  values?: Readonly<Record<string, readonly string[]>>
  /** Its series appear when they are first counted, because there would be too many with 0. */
  isSparse?: boolean
  buckets?: number[]
}

const OPERATIONS = ['list_calls', 'get_call']
const HOOK_OUTCOMES = ['hint', 'duplicate', 'other_app', 'invalid', 'unauthorized', 'unavailable']

/** The metrics about callwatch itself. They are not durable: they restart with the process. */
export const COUNTER_DEFINITIONS = {
  polls: {
    name: 'callwatch_polls_total',
    help: 'Polls by outcome: complete, incremental, partial, failed, skipped (the previous poll was running)',
    labels: ['target', 'outcome'],
    values: { outcome: ['complete', 'incremental', 'partial', 'failed', 'skipped'] },
  },
  requests: {
    name: 'callwatch_api_requests_total',
    help: 'Requests to the calls service by operation (list_calls, get_call) and HTTP code, or timeout, network, invalid, or the kind of an error with code 200',
    labels: ['target', 'operation', 'code'],
    // The codes of usual answers. Other codes appear when they first occur.
    values: { operation: OPERATIONS, code: ['200', 'timeout', 'network', 'invalid'] },
  },
  notifications: {
    name: 'callwatch_notifications_total',
    help: 'Delivery attempts by outcome: sent, retried',
    labels: ['receiver', 'outcome'],
    values: { outcome: ['sent', 'retried'] },
  },
  webhookDeliveries: {
    name: 'callwatch_webhook_deliveries_total',
    help: 'Attempts to deliver events: delivered, retried, dead (a dead letter), expired; gap: the position in the log was lost',
    labels: ['webhook', 'outcome'],
    values: { outcome: ['delivered', 'retried', 'dead', 'expired', 'gap'] },
  },
  serviceWebhooks: {
    name: 'callwatch_service_webhooks_total',
    help: 'Webhooks of the calls service by trigger and outcome: hint, duplicate, other_app, invalid, unauthorized, unavailable',
    labels: ['target', 'trigger', 'outcome'],
    values: { trigger: Object.keys(TRIGGERS), outcome: HOOK_OUTCOMES },
    isSparse: true,
  },
  serviceWebhookEnds: {
    name: 'callwatch_service_webhook_ends_total',
    help: 'Ends of calls by whether a webhook of the calls service announced them: yes, no',
    labels: ['target', 'announced'],
    values: { announced: ['yes', 'no'] },
    isSparse: true,
  },
  loginFailures: {
    name: 'callwatch_login_failures_total',
    help: 'Log-ins with a wrong user name or password',
    labels: [],
  },
  silenceChanges: {
    name: 'callwatch_silence_changes_total',
    help: 'Silences changed over the API: added, edited, expired',
    labels: ['change'],
  },
  internalErrors: {
    name: 'callwatch_internal_errors_total',
    help: 'Bugs in callwatch that restarted a target; please report them',
    labels: ['target'],
  },
  logLinesDropped: {
    name: 'callwatch_log_lines_dropped_total',
    help: 'Log lines that could not be written',
    labels: [],
  },
  leaseLost: {
    name: 'callwatch_lease_lost_total',
    help: 'How often this daemon lost its lease and released its targets',
    labels: [],
  },
} satisfies Record<string, MetricDefinition>

export const GAUGE_DEFINITIONS = {
  up: { name: 'callwatch_up', help: '1 if the last poll was successful, otherwise 0', labels: ['target'], values: {} },
  rateLimitRemaining: {
    name: 'callwatch_api_ratelimit_remaining',
    help: 'Requests left in the rate limit, if the service says so',
    labels: ['target'],
  },
  notificationsPending: {
    name: 'callwatch_notifications_pending',
    help: 'Messages that could not be sent yet',
    labels: ['receiver'],
    values: {},
  },
  notificationOldestPending: {
    name: 'callwatch_notification_oldest_pending_seconds',
    help: 'For how long the oldest pending message has failed',
    labels: ['receiver'],
    values: {},
  },
  webhookPending: {
    name: 'callwatch_webhook_pending_events',
    help: 'Events not yet delivered to the webhook, before its filter',
    labels: ['webhook'],
  },
  webhookOldestPending: {
    name: 'callwatch_webhook_oldest_pending_seconds',
    help: 'Time since the oldest pending event was found',
    labels: ['webhook'],
  },
  webhookDeadLetters: {
    name: 'callwatch_webhook_dead_letters',
    help: 'Events that a webhook refused for ten minutes',
    labels: ['webhook'],
  },
  webhookPaused: {
    name: 'callwatch_webhook_paused',
    help: '1 while a webhook is paused, otherwise 0',
    labels: ['webhook'],
  },
  targets: {
    name: 'callwatch_targets',
    help: 'Configured targets',
    labels: [],
  },
  targetsOwned: { name: 'callwatch_targets_owned', help: 'Targets that this daemon owns and polls', labels: [] },
  storeBytes: {
    name: 'callwatch_store_bytes',
    help: 'Size of the store',
    labels: [],
  },
  storeWritable: {
    name: 'callwatch_store_writable',
    help: '0 while commits or renewals of the lease fail, otherwise 1',
    labels: [],
  },
  reloadSuccessful: {
    name: 'callwatch_config_last_reload_successful',
    help: '1 if the last reload of the configuration succeeded, otherwise 0',
    labels: [],
  },
  buildInfo: {
    name: 'callwatch_build_info',
    help: 'Always 1; versions of callwatch and Node.js',
    labels: ['version', 'node'],
  },
} satisfies Record<string, MetricDefinition>

export const HISTOGRAM_DEFINITIONS = {
  pollDuration: {
    name: 'callwatch_poll_duration_seconds',
    help: 'Duration of a poll, commit included',
    labels: ['target'],
    buckets: SECONDS,
  },
  detectionLag: {
    name: 'callwatch_detection_lag_seconds',
    help: 'Time from endedAt of a call until a poll found it finished',
    labels: ['target'],
    buckets: LAG_SECONDS,
  },
  serviceWebhookLag: {
    name: 'callwatch_service_webhook_lag_seconds',
    help: 'Time from the end of a call until the webhook that announced it came',
    labels: ['target'],
    buckets: LAG_SECONDS,
    isSparse: true,
  },
  requestDuration: {
    name: 'callwatch_api_request_duration_seconds',
    help: 'Duration of a request to the calls service',
    labels: ['target', 'operation'],
    values: { operation: OPERATIONS },
    buckets: SECONDS,
  },
  commitDuration: {
    name: 'callwatch_store_commit_duration_seconds',
    help: 'Duration of a commit to the store',
    labels: [],
    buckets: COMMIT_SECONDS,
  },
} satisfies Record<string, MetricDefinition>

type Each<Definitions, Made> = { [K in keyof Definitions]: Made }

export type OperationalMetrics = Each<typeof COUNTER_DEFINITIONS, Counter> &
  Each<typeof GAUGE_DEFINITIONS, Gauge> &
  Each<typeof HISTOGRAM_DEFINITIONS, Histogram>

/** Registers the operational metrics. */
export function operationalMetrics(registry: Registry): OperationalMetrics {
  const registers = [registry]
  const optionsOf = ({ name, help, labels }: MetricDefinition) => ({ name, help, labelNames: labels, registers })
  return {
    ...each(COUNTER_DEFINITIONS, (definition) => new Counter(optionsOf(definition))),
    ...each(GAUGE_DEFINITIONS, (definition) => new Gauge(optionsOf(definition))),
    ...each(HISTOGRAM_DEFINITIONS, ({ buckets = [], ...definition }) => {
      return new Histogram({ ...optionsOf(definition), buckets })
    }),
  }
}

function each<Definitions extends Record<string, MetricDefinition>, Made>(
  definitions: Definitions,
  make: (definition: MetricDefinition) => Made,
): Each<Definitions, Made> {
  const metrics = Object.entries(definitions).map(([key, definition]) => [key, make(definition)])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries does not keep the keys in its type
  return Object.fromEntries(metrics) as Each<Definitions, Made>
}
