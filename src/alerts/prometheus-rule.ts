import { annotationsOf, prometheusDuration } from './prometheus-annotations.ts'
import { RULE_LABELS, windowOf, type Rule, type RuleLabels } from './rule.ts'

/** A Prometheus alerting rule, as it stands in a rule file. Durations in seconds. */
export type PrometheusRule = {
  alert: string
  expr: string
  for: number
  keepFiringFor: number
  labels: Record<string, string>
  annotations: Record<string, string>
}

/** Why a rule has no counterpart in Prometheus. */
export class NoCounterpart extends Error {
  override readonly name = 'NoCounterpart'
}

const FAILURES = {
  any: '~"unanswered|rejected|canceled"',
  unanswered: '"unanswered"',
  rejected: '"rejected"',
  canceled: '"canceled"',
}
/** Polls that may fail before nothing is known of a target any more. */
const BLIND_INTERVALS = 4
const LEAST_BLIND = 60

const POLLED = 'callwatch_poll_last_success_timestamp_seconds'
/**
 * The same while callwatch is not there to be scraped, for a day. Where it is there, a target that it no longer tells of was
 * removed: what fired is over then, but not while the target moves from one instance to another.
 */
const LAST_POLLED =
  `max by (target) (last_over_time(${POLLED}[2m]) ` +
  `or last_over_time(${POLLED}[1d]) unless on (job) callwatch_build_info)`

/**
 * The Prometheus rule that says the same as one of callwatch's, from raw counters and the two timestamps alone: not from
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

/** A value that is told by a counter or gauge, and the calls that a verdict or a breach takes. */
function valueOf({ signal, match, onlyIf }: Rule, by: string): { value: string } & Needed {
  const sum = (metric: string, selector: string, window: number, offset = 0) =>
    `sum by (${by}) (increase(${metric}${selector}[${prometheusDuration(window)}]${offset === 0 ? '' : ` offset ${prometheusDuration(offset)}`}))`
  const selected = (more = '') => selectorOf(match, more)
  const before = (metric: string, window: number) =>
    onlyIf && { before: `${sum(metric, selected(), window, onlyIf.offset)} >= ${onlyIf.atLeast}` }
  switch (signal.name) {
    case 'failure_ratio': {
      if (signal.confidence !== undefined) throw new NoCounterpart('PromQL has no confidence of a ratio')
      const finished = sum('callwatch_calls_total', selected(), signal.window)
      const failed = sum('callwatch_calls_total', selected(`status=${FAILURES[signal.reason]}`), signal.window)
      return {
        value: `${failed} / ${finished}`,
        enough: { calls: finished, least: signal.minCalls, window: signal.window },
        ...before('callwatch_calls_total', signal.window),
      }
    }
    case 'calls':
    case 'calls_started': {
      const metric = signal.name === 'calls' ? 'callwatch_calls_total' : 'callwatch_calls_started_total'
      return { value: sum(metric, selected(), signal.window), ...before(metric, signal.window) }
    }
    case 'in_progress':
      return { value: `sum by (${by}) (callwatch_calls_in_progress${selected()})` }
    default:
      throw new NoCounterpart(`${signal.name} is not to be had from callwatch's counters as it is judged`)
  }
}

type Needed = {
  /** Calls that any verdict takes; a firing alert is kept for one window without them. */
  enough?: { calls: string; least: number; window: number }
  /** That there were calls before, as `only_if` asks for: only the breach itself takes that. */
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

function selectorOf(match: RuleLabels, more: string): string {
  const given = RULE_LABELS.filter((label) => match[label] !== undefined)
  const matchers = [...given.map((label) => `${label}="${match[label]}"`), ...(more === '' ? [] : [more])]
  return matchers.length === 0 ? '' : `{${matchers.join(', ')}}`
}
