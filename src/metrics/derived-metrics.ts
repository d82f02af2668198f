import { groupCalls, isOf, labelValue, RULE_LABELS, type RuleLabels } from '../alerts/groups.ts'
import type { RuleValue } from '../alerts/rule-value.ts'
import { latestValues } from '../alerts/latest-values.ts'
import type { Rule } from '../alerts/rule.ts'
import { withUsual } from '../alerts/usual.ts'
import { OPEN_STATUSES, DOCUMENTED_LABELS, type Labels } from '../ledger/call.ts'
import { failureRatio, MIN_EXPORTED_CALLS, REASONS } from '../ledger/failure-ratio.ts'
import { COUNTERS, HISTOGRAMS, type DurableCounter, type DurableHistogram } from '../ledger/series.ts'
import type { LedgerState } from '../ledger/state.ts'
import { participantsInProgress, windows } from '../ledger/windows.ts'
import { beganAt } from '../ledger/tracked-call.ts'
import type { TargetStatus } from '../pipeline/target.ts'

/**
 * One line of an exposition. `metricName` is set if the name has a suffix. `sharedLabels` must be the same object at each
 * scrape, because prom-client formats it once.
 */
export type Sample = { labels: LabelSet; sharedLabels: LabelSet; value: number; metricName?: string }

/** A metric that reads its values from committed state at each scrape. */
export type DerivedMetric = {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  /** All labels except `target`. */
  labels: readonly string[]
  read: (exported: ExportedTarget) => Sample[]
}

/** The parts of a target that metrics read. */
export type ExportedTarget = Pick<TargetStatus, 'name' | 'ledger' | 'alerts' | 'pollAge' | 'recent' | 'sweepAge'> & {
  readonly settings: Pick<TargetStatus['settings'], 'rules'>
}

/** The values of `callwatch_alert_state`. An alert in the state `recovering` still fires. */
const STATES = { inactive: 0, pending: 1, firing: 2, recovering: 2 }

/** All metrics that are derived from a target's committed state. */
export const DERIVED_METRICS: readonly DerivedMetric[] = [
  ...Object.values<DurableCounter>(COUNTERS).map(counterMetric),
  ...Object.values<DurableHistogram>(HISTOGRAMS).map(histogramMetric),
  gauge(
    'callwatch_calls_excluded',
    'Listed calls that are not counted, by reason: baseline, before_horizon',
    ['reason'],
    ({ ledger: { sync } }) => [
      [['baseline'], sync.excluded.baseline],
      [['before_horizon'], sync.excluded.beforeHorizon],
    ],
  ),
  gauge(
    'callwatch_clock_skew_seconds',
    "How far the service's clock is ahead of this host's clock",
    [],
    ({ ledger: { sync } }) => (sync.clockSkew === undefined ? [] : [[[], sync.clockSkew]]),
  ),
  gauge(
    'callwatch_calls_in_progress',
    'Open calls by status: initiated, ongoing, other',
    ['type', 'mode', 'receiver_type', 'status'],
    ({ ledger }) => callsInProgress(ledger),
  ),
  gauge(
    'callwatch_oldest_open_call_timestamp_seconds',
    'When the oldest open call began (UNIX time)',
    RULE_LABELS,
    ({ ledger: { open } }) => {
      const oldest = new Map<string, number>()
      for (const call of open.values()) {
        const key = RULE_LABELS.map((label) => labelValue(call.labels, label)).join('|')
        oldest.set(key, Math.min(oldest.get(key) ?? Infinity, beganAt(call)))
      }
      return [...oldest].map(([key, began]) => [key.split('|'), began])
    },
  ),
  gauge('callwatch_participants_in_progress', 'Participant entries in ongoing calls', [], ({ ledger }) => [
    [[], participantsInProgress(ledger)],
  ]),
  gauge(
    'callwatch_call_failure_ratio',
    `Share of finished calls in the window that failed, by reason: any, unanswered, rejected, canceled; absent below ${MIN_EXPORTED_CALLS} calls`,
    ['window', 'reason'],
    ({ ledger }) =>
      windows(ledger).flatMap(([window, counts]) =>
        counts.total < MIN_EXPORTED_CALLS
          ? []
          : REASONS.map((reason) => [[window, reason], failureRatio(counts, reason)]),
      ),
  ),
  gauge('callwatch_window_calls', 'Finished calls in the window', ['window'], ({ ledger }) =>
    windows(ledger).map(([window, counts]) => [[window], counts.total]),
  ),
  gauge(
    'callwatch_poll_last_success_timestamp_seconds',
    'When the last successful poll ended (UNIX time)',
    [],
    ({ ledger: { sync } }) => (sync.lastSuccessHostTime === undefined ? [] : [[[], sync.lastSuccessHostTime]]),
  ),
  gauge('callwatch_tracked_calls', 'Tracked calls, open and finished', [], ({ ledger }) => [[[], ledger.calls.size]]),
  gauge('callwatch_sweep_age_seconds', 'Time since the last complete sweep began', [], ({ sweepAge }) => {
    const age = sweepAge()
    return age === undefined ? [] : [[[], age]]
  }),
  gauge(
    'callwatch_alerts',
    'Alert instances by state: pending, firing',
    ['alert', 'severity', 'state'],
    ({ alerts, settings }) =>
      settings.rules.flatMap(({ name, severity }) => {
        const states = [...alerts.values()].filter(({ rule }) => rule.name === name).map(({ state }) => state)
        const pending = states.filter((state) => state === 'pending').length
        return [
          [[name, severity, 'pending'], pending],
          // An alert in the state `recovering` still fires.
          [[name, severity, 'firing'], states.length - pending],
        ] as const
      }),
  ),
  gauge(
    'callwatch_alert_state',
    'State of each alert: 0 inactive, 1 pending, 2 firing',
    ['alert', 'severity', ...RULE_LABELS],
    ({ alerts, settings }) =>
      settings.rules.flatMap((rule) => {
        const known = [...alerts.values()].filter((instance) => isOf(rule, instance)).map(({ labels }) => labels)
        return [...groupCalls(rule, [], known)].map(
          ([key, { labels }]) =>
            [[rule.name, rule.severity, ...groupValues(labels)], STATES[alerts.get(key)?.state ?? 'inactive']] as const,
        )
      }),
  ),
  gauge(
    'callwatch_rule_value',
    'Value of an alert rule as of the last successful poll, in the unit of its signal; absent with too few calls',
    ['alert', 'signal', ...RULE_LABELS],
    ofRules(({ tooFew, value }) => (tooFew || !Number.isFinite(value) ? undefined : value)),
  ),
  gauge(
    'callwatch_rule_expected',
    'The usual value, of a rule with `relative_to` or `above_usual`',
    ['alert', 'signal', ...RULE_LABELS],
    ofRules(({ compared, usual }) => compared?.expected ?? usual),
  ),
  gauge(
    'callwatch_rule_threshold',
    'Threshold of an alert rule, in the unit of its callwatch_rule_value',
    ['alert', 'signal', ...RULE_LABELS],
    ofRules(({ usual }, rule) => withUsual(rule, usual).threshold),
  ),
]

/** A number of each value of each rule, where there is one. */
function ofRules(pick: (value: RuleValue, rule: Rule) => number | undefined) {
  return ({ settings, ledger, pollAge, recent }: ExportedTarget) =>
    settings.rules.flatMap((rule) =>
      latestValues(rule, ledger, { pollAge: pollAge(), recent }).flatMap((latest) => {
        const number = pick(latest, rule)
        if (number === undefined) return []
        return [[[rule.name, rule.signal.name, ...groupValues(latest.labels)], number] as const]
      }),
    )
}

type LabelledValue = readonly [labelValues: readonly string[], value: number]

/** Label values by name. */
type LabelSet = Record<string, string | number>
const NO_LABELS: LabelSet = {}

function gauge(
  name: string,
  help: string,
  labels: readonly string[],
  values: (exported: ExportedTarget) => readonly LabelledValue[],
): DerivedMetric {
  const labelSets = new WeakMap<LedgerState, Map<string, LabelSet>>()
  const read = (exported: ExportedTarget) => {
    const { name: target, ledger } = exported
    const known = labelSets.get(ledger) ?? new Map<string, LabelSet>()
    labelSets.set(ledger, known)
    return values(exported).map(([labelValues, value]) => {
      const key = labelValues.join('|')
      const sharedLabels = known.get(key) ?? withTarget(target, labels, labelValues)
      known.set(key, sharedLabels)
      return { labels: NO_LABELS, sharedLabels, value }
    })
  }
  return { name, help, type: 'gauge', labels, read }
}

function counterMetric(counter: DurableCounter): DerivedMetric {
  const { name, help, labels } = counter
  const seriesOf = durableSeries(counter, (key, sharedLabels) => ({ key, sharedLabels }))
  const read = (exported: ExportedTarget) =>
    seriesOf(exported).map(({ key, sharedLabels }) => ({
      labels: NO_LABELS,
      sharedLabels,
      value: exported.ledger.counters.get(key) ?? 0,
    }))
  return { name, help, type: 'counter', labels, read }
}

function histogramMetric(histogram: DurableHistogram): DerivedMetric {
  const { name, help, labels, buckets } = histogram
  const bounds = [...buckets, 'Inf']
  const bucketLabels = bounds.map((bound): LabelSet => ({ le: bound === 'Inf' ? '+Inf' : bound }))
  const seriesOf = durableSeries(histogram, (key, sharedLabels) => ({
    buckets: bounds.map((bound) => `${key}|${bound}`),
    sum: `${key}|sum`,
    sharedLabels,
  }))
  const read = (exported: ExportedTarget) => {
    const { counters } = exported.ledger
    return seriesOf(exported).flatMap(({ buckets, sum, sharedLabels }) => {
      let count = 0
      const samples: Sample[] = buckets.map((key, i) => {
        count += counters.get(key) ?? 0
        return { metricName: `${name}_bucket`, labels: bucketLabels[i]!, sharedLabels, value: count }
      })
      const whole = { labels: NO_LABELS, sharedLabels }
      samples.push({ metricName: `${name}_sum`, ...whole, value: counters.get(sum) ?? 0 })
      samples.push({ metricName: `${name}_count`, ...whole, value: count })
      return samples
    })
  }
  return { name, help, type: 'histogram', labels, read }
}

/**
 * Finds the series of a durable metric in the counters of a target. Each is made once: those of `span`, and then the others in the
 * order in which they were first counted.
 */
function durableSeries<Series>(
  { name, labels, span }: DurableCounter,
  make: (key: string, sharedLabels: LabelSet) => Series,
): (exported: ExportedTarget) => readonly Series[] {
  const keyOf = (values: readonly string[]) => [name, ...values].join('|')
  const spanned = new Set(span.map(keyOf))
  const seriesOf = new WeakMap<LedgerState, { seen: number; others: Set<string>; series: Series[] }>()
  return ({ name: target, ledger }) => {
    const { counters, sync } = ledger
    // The first value that Prometheus sees has the calls of the past, so that none of them is an increase.
    if (sync.lastSuccess === undefined) return []
    const of = (values: readonly string[]) => make(keyOf(values), withTarget(target, labels, values))
    const known = seriesOf.get(ledger) ?? { seen: 0, others: new Set<string>(), series: span.map(of) }
    seriesOf.set(ledger, known)
    // A counter is never removed, so that the new ones are the last.
    for (const each of counters.size > known.seen ? counters.keys().drop(known.seen) : []) {
      if (each !== name && !each.startsWith(`${name}|`)) continue
      const values = each.split('|').slice(1, 1 + labels.length)
      const key = keyOf(values)
      if (spanned.has(key) || known.others.has(key)) continue
      known.others.add(key)
      known.series.push(of(values))
    }
    known.seen = counters.size
    return known.series
  }
}

function withTarget(target: string, names: readonly string[], values: readonly string[]): Record<string, string> {
  // An empty label is the same as none.
  const labels = names.map((name, i) => [name, values[i]!] as const).filter(([, value]) => value !== '')
  return Object.fromEntries([['target', target], ...labels])
}

/** The values of the labels of a group; a label that it has not is empty. */
function groupValues(labels: RuleLabels): string[] {
  return RULE_LABELS.map((label) => labels[label] ?? '')
}

function inProgressKey({ type, mode, receiverType }: Labels, status: string): string {
  return `${type}|${mode}|${receiverType}|${status}`
}

function callsInProgress({ open }: LedgerState): LabelledValue[] {
  const counts = new Map(
    DOCUMENTED_LABELS.flatMap((labels) => OPEN_STATUSES.map((status) => [inProgressKey(labels, status), 0])),
  )
  for (const { labels, status } of open.values()) {
    counts.set(inProgressKey(labels, status), (counts.get(inProgressKey(labels, status)) ?? 0) + 1)
  }
  return [...counts].map(([labelValues, count]) => [labelValues.split('|'), count])
}
