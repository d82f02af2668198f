import { annotationsOf, prometheusDuration } from './prometheus-annotations.ts'
import { recordOf, selectorOf, seriesOf, type PrometheusRecord } from './prometheus-record.ts'
import { RULE_LABELS, windowOf, type Rule } from './rule.ts'

/** A Prometheus alerting rule, as it stands in a rule file. Durations in seconds. */
export type PrometheusRule = {
  alert: string
  expr: string
  for: number
  keepFiringFor: number
  labels: Record<string, string>
  annotations: Record<string, string>
  /** What is to be recorded for it, before it is evaluated. */
  records: readonly PrometheusRecord[]
}

/** Why a rule has no counterpart in Prometheus. */
export class NoCounterpart extends Error {
  override readonly name = 'NoCounterpart'
}

/** Polls that may fail before nothing is known of a target any more. */
const BLIND_INTERVALS = 4
const LEAST_BLIND = 60

const POLLED = 'callwatch_poll_last_success_timestamp_seconds'
/** How many targets no daemon owns, of the daemons of one job. */
const UNOWNED = 'max by (job) (callwatch_targets) - sum by (job) (callwatch_targets_owned)'
/** For this long a daemon that was just there is taken to be there still: while it restarts, or targets move. */
const ALL_OWNED = `max_over_time((${UNOWNED} <= bool 0)[1m:]) > 0`
/**
 * When a target was polled last, also while nobody watches it or callwatch is not there to be scraped, for a day. Where all
 * targets are watched, one that is no longer told of was removed: what fired is over then, but not while the target moves
 * from one instance to another.
 */
const LAST_POLL: PrometheusRecord = {
  record: `alerts:${POLLED}:max`,
  expr: `max by (target) (last_over_time(${POLLED}[2m]) or last_over_time(${POLLED}[1d]) unless on (job) (${ALL_OWNED}))`,
}
const LAST_POLLED = seriesOf(LAST_POLL)

/**
 * The Prometheus rule that says the same as one of callwatch's, from counters and the two timestamps alone: not from
 * callwatch's own windows or verdicts. Like callwatch it knows hysteresis, too few calls and a target that cannot be polled.
 *
 * @param interval seconds between two polls
 * @throws {NoCounterpart} where PromQL cannot say it
 */
export function prometheusRule(rule: Rule, interval: number): PrometheusRule {
  const { name, severity, keepFiringFor } = rule
  return {
    alert: name,
    expr: expressionOf(rule, interval),
    for: rule.for,
    keepFiringFor,
    labels: { severity },
    annotations: annotationsOf(rule),
    records: [...recordsOf(rule), LAST_POLL],
  }
}

/** Daemons that share targets leave none unwatched for as long as this (seconds), if nothing is wrong and leases are short. */
const HAND_OVER = 120

/**
 * That there are targets which none of the daemons watches that Prometheus reads. It is no rule of the configuration: who
 * watches nothing cannot tell.
 *
 * @param lease seconds for which a daemon owns its targets without being heard of; undefined where it is alone
 */
export function unownedTargets(lease: number | undefined): PrometheusRule {
  return {
    alert: 'UnownedTargets',
    expr: `${UNOWNED} > 0`,
    for: Math.max(HAND_OVER, 2 * (lease ?? 0)),
    keepFiringFor: 0,
    labels: { severity: 'critical' },
    annotations: {
      description:
        '{{ $value }} of the targets are owned by no callwatch that Prometheus reads: what happens to their calls is ' +
        'counted late, and nobody is told of it.',
    },
    records: [],
  }
}

function expressionOf(rule: Rule, interval: number): string {
  const { signal, breach, threshold } = rule
  if (rule.onlyIf !== undefined && windowOf(signal) === undefined) {
    throw new NoCounterpart(`${signal.name} has no window that only_if could compare with`)
  }
  const blindAfter = Math.max(LEAST_BLIND, BLIND_INTERVALS * interval)
  const by = ['target', ...rule.by].join(', ')
  const fires = `max by (${by}) (ALERTS{alertname=${JSON.stringify(rule.name)}, alertstate="firing"})`
  const firing = `on (${by}) ${fires}`
  if (signal.name === 'poll_age') {
    const aged = hysteresis(rule, `time() - ${LAST_POLLED}`, firing)
    return breach === 'above' ? `${aged}\nor ${neverPolled(threshold)}` : aged
  }
  const age = `time() - ${LAST_POLLED}`
  const window: Seen = { seen: `${age} <= ${blindAfter}`, unseen: `${age} > ${blindAfter}` }
  // A gauge is gone at once when a scrape fails; what is counted over a window is not.
  const now = `time() - max by (target) (${POLLED}) <= ${blindAfter}`
  const gauge: Seen = { seen: now, unseen: `${LAST_POLLED} unless on (target) (${now})` }
  if (signal.name === 'stuck_calls') {
    if (rule.by.length > 0 || Object.keys(rule.match).length > 0) {
      throw new NoCounterpart('callwatch_oldest_open_call_timestamp_seconds has no labels of calls')
    }
    if (breach !== 'above' || threshold !== 0) {
      throw new NoCounterpart('callwatch_oldest_open_call_timestamp_seconds tells of one call only')
    }
    const oldest = 'min by (target) (callwatch_oldest_open_call_timestamp_seconds)'
    return whileSeen(`time() - ${oldest} > ${signal.longerThan}`, gauge, fires)
  }
  const { value, ...calls } = valueOf(rule, by)
  return whileSeen(hysteresis(rule, value, firing, calls), windowOf(signal) === undefined ? gauge : window, fires)
}

/** What a rule counts: all calls of a kind, and those of them that are its value where it is a share. */
function recordsOf(rule: Rule): PrometheusRecord[] {
  const { signal } = rule
  if (signal.name === 'calls_started') return [recordOf('callwatch_calls_started_total', rule)]
  if (signal.name === 'calls') return [recordOf('callwatch_calls_total', rule)]
  if (signal.name !== 'failure_ratio') return []
  return [recordOf('callwatch_calls_total', rule), recordOf('callwatch_calls_total', rule, signal.reason)]
}

/** A value that is told by a counter or gauge, and the calls that a verdict or a breach takes. */
function valueOf(rule: Rule, by: string): { value: string } & Needed {
  const { signal, match, onlyIf, breach } = rule
  const increase = (record: PrometheusRecord, window: number, offset = 0) =>
    `sum by (${by}) (increase(${seriesOf(record)}[${prometheusDuration(window)}]${offset === 0 ? '' : ` offset ${prometheusDuration(offset)}`}))`
  const [all, failed] = recordsOf(rule)
  const window = windowOf(signal)
  if (signal.name === 'in_progress') {
    // While a target moves, two daemons may tell of it.
    const labels = ['target', ...RULE_LABELS, 'status'].join(', ')
    return { value: `sum by (${by}) (max by (${labels}) (callwatch_calls_in_progress${selectorOf(match)}))` }
  }
  if (all === undefined || window === undefined) {
    throw new NoCounterpart(`${signal.name} is not to be had from callwatch's counters as it is judged`)
  }
  if (signal.name === 'failure_ratio' && signal.confidence !== undefined) {
    throw new NoCounterpart('PromQL has no confidence of a ratio')
  }
  const calls = increase(all, window)
  // What was recorded for a part of the window only is too little by itself.
  const whole = `sum by (${by}) (${seriesOf(all)} offset ${prometheusDuration(window)})`
  const before = onlyIf === undefined ? whole : `${increase(all, window, onlyIf.offset)} >= ${onlyIf.atLeast}`
  const needed = onlyIf === undefined && breach === 'above' ? {} : { before }
  if (signal.name !== 'failure_ratio' || failed === undefined) return { value: calls, ...needed }
  return {
    value: `${increase(failed, window)} / ${calls}`,
    enough: { calls, least: signal.minCalls, window },
    ...needed,
  }
}

type Needed = {
  /** Calls that any verdict takes; a firing alert is kept for one window without them. */
  enough?: { calls: string; least: number; window: number }
  /** What was before, such as the calls that `only_if` asks for: only the breach itself takes that. */
  before?: string
}

/** Past the threshold, or firing and not yet back past `clear`. */
function hysteresis(
  { breach, threshold, clear, keepFiringFor }: Rule,
  value: string,
  firing: string,
  { enough, before }: Needed = {},
): string {
  const isPast = (limit: number) => `${value} ${breach === 'above' ? '>' : '<'} ${limit}`
  const suffices = enough === undefined ? '' : ` and ${enough.calls} >= ${enough.least}`
  const parts = [`(${isPast(threshold)}${suffices}${before === undefined ? '' : ` and ${before}`})`]
  if (clear !== threshold || before !== undefined) parts.push(`(${isPast(clear)}${suffices} and ${firing})`)
  // It is kept for one window without enough calls, the last part of which is Prometheus's own keep_firing_for.
  const kept = (enough?.window ?? 0) - keepFiringFor
  if (enough !== undefined && kept > 0) {
    const had = `max_over_time((${enough.calls} >= bool ${enough.least})[${prometheusDuration(kept)}:]) > 0`
    parts.push(`(${value} and ${enough.calls} < ${enough.least} and ${had} and ${firing})`)
  }
  return parts.join('\nor ')
}

/** Whether a target is polled, and whether it no longer is, but was. */
type Seen = { seen: string; unseen: string }

/** What is seen, as long as the target is polled; what fired before goes on, without a value, while it is not. */
function whileSeen(expr: string, { seen, unseen }: Seen, fires: string): string {
  return `(${expr})\nand on (target) (${seen})\nor (NaN * ${fires} and on (target) (${unseen}))`
}

/** A target that has been polled for so long, and not once with success that anybody remembers. */
function neverPolled(seconds: number): string {
  const polled = `sum by (target) (callwatch_polls_total offset ${prometheusDuration(seconds)})`
  return `(0 * ${polled} + ${seconds} unless on (target) last_over_time(${POLLED}[1d]))`
}
