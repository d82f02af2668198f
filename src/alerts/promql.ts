import { formatDuration } from '../schema/duration-text.ts'
import type { Reason } from '../ledger/failure-ratio.ts'
import { RULE_LABELS, type RuleLabels } from './groups.ts'
import type { RuleOn } from './rule-keys.ts'

/** A Prometheus recording rule of a rule file. */
export type PrometheusRecord = {
  record: string
  expr: string
  labels?: { of: string }
}

/** A rule in PromQL. */
export type PrometheusQuery = {
  expr: string
  /** The recording rules that it needs. */
  records: readonly PrometheusRecord[]
  /** The value in a template, if its unit is not the signal's. */
  value?: string
  /** The number of calls behind the value, in a template. */
  calls?: string
}

/** Why a rule has no counterpart in Prometheus. */
export class NotExpressible extends Error {
  override readonly name = 'NotExpressible'
}

/** The name of a rule's alert in Prometheus, where it must not collide with alerts of other programs. */
export function alertNameOf({ name }: { readonly name: string }): string {
  return `Callwatch${name}`
}

/** A number of calls, in a template. Prometheus extrapolates an increase over a window, but calls are whole. */
export const WHOLE_VALUE = '{{ printf "%.0f" $value }}'

/** After this many intervals and seconds without a successful poll, the counters say nothing about a target. */
const STALE_AFTER_INTERVALS = 4
const MIN_STALE_AFTER_SECONDS = 60

const POLLED = 'callwatch_poll_last_success_timestamp_seconds'
/** How many targets no daemon owns, among the daemons of one job. */
export const UNOWNED = 'max by (job) (callwatch_targets) - sum by (job) (callwatch_targets_owned)'
/** A daemon that was just there still counts for this long: it may be restarting, or targets may be moving. */
const ALL_OWNED = `max_over_time((${UNOWNED} <= bool 0)[1m:]) > 0`
/**
 * When a target was last polled. The record continues for a day while no daemon owns the target or Prometheus cannot scrape
 * callwatch. If all targets are owned, a target without a series was removed, and its alerts end. A target that only moves to
 * another instance keeps its alerts.
 */
export const LAST_POLL: PrometheusRecord = {
  record: `alerts:${POLLED}:max`,
  expr: `max by (target) (last_over_time(${POLLED}[2m]) or last_over_time(${POLLED}[1d]) unless on (job) (${ALL_OWNED}))`,
}
/** Seconds since the last successful poll of a target. */
export const POLL_AGE = `time() - ${LAST_POLL.record}`

/** The counters that alerts use, each with its labels besides the target. */
const COUNTERS = {
  callwatch_calls_total: [...RULE_LABELS, 'status'],
  callwatch_calls_started_total: RULE_LABELS,
}

const STATUSES: Record<Reason, string> = {
  any: '~"unanswered|rejected|canceled"',
  unanswered: '"unanswered"',
  rejected: '"rejected"',
  canceled: '"canceled"',
}

type Counted = RuleOn<{ window: number }>

/**
 * The calls that a rule evaluates, as one counter for each of its alerts, whichever daemon owns the target. When a target
 * moves, its counters continue in the new daemon from where they were, so the largest of several daemons' counters is right.
 * The increases of each daemon's own counter would be wrong: they miss what was counted between scrapes of different daemons,
 * and count twice when a target moves back.
 *
 * @param failures only calls that failed for this reason
 */
export function recordOf(
  metric: keyof typeof COUNTERS,
  { match, by }: Pick<Counted, 'match' | 'by'>,
  failures?: Reason,
): PrometheusRecord {
  const summed = COUNTERS[metric].filter((label) => !by.some((kept) => kept === label))
  const selector = selectorOf(match, failures === undefined ? '' : `status=${STATUSES[failures]}`)
  const given = RULE_LABELS.filter((label) => match[label] !== undefined).map((label) => `${label}=${match[label]}`)
  const reason = failures === undefined ? [] : [failures === 'any' ? 'failed' : failures]
  const of = [...given, ...reason, ...by.map((label) => `by ${label}`)].join(', ') || 'all'
  return {
    record: `alerts:${metric}:max`,
    expr: `max by (${groupOf({ by })}) (sum without (${summed.join(', ')}) (${metric}${selector}))`,
    labels: { of },
  }
}

/** The selector of a record: its name, its labels, and further matchers. */
export function seriesOf({ record, labels }: PrometheusRecord, more: readonly string[] = []): string {
  const matchers = [...(labels === undefined ? [] : [`of="${labels.of}"`]), ...more]
  return matchers.length === 0 ? record : `${record}{${matchers.join(', ')}}`
}

/** The labels that a rule matches, in braces; empty if it matches all calls. */
export function selectorOf(match: RuleLabels, more = ''): string {
  const given = RULE_LABELS.filter((label) => match[label] !== undefined)
  const matchers = [...given.map((label) => `${label}="${match[label]}"`), ...(more === '' ? [] : [more])]
  return matchers.length === 0 ? '' : `{${matchers.join(', ')}}`
}

/** The labels of a rule's alerts. */
export function groupOf({ by }: Pick<Counted, 'by'>): string {
  return ['target', ...by].join(', ')
}

/** How much a counter grew in a rule's window, or in the window `offset` seconds earlier. */
export function increaseOf(record: PrometheusRecord, { signal, by }: Counted, offset = 0): string {
  const window = formatDuration(signal.window)
  const earlier = offset === 0 ? '' : ` offset ${formatDuration(offset)}`
  return `sum by (${groupOf({ by })}) (increase(${seriesOf(record)}[${window}]${earlier}))`
}

/** Conditions of a breach besides the value. */
type Needed = {
  /** The calls that any result requires. Without them a firing alert continues for one window. */
  enough?: Enough
  /** The calls that `only_if` requires. A breach without them is treated alike. */
  comparable?: Enough
  /** What must have been true before. Applies to a breach only, not to a firing alert. */
  before?: string
}

type Enough = { calls: string; least: number; window: number }

/** What must have been recorded before for a breach to count. */
export function neededBefore(record: PrometheusRecord, rule: Counted): Needed {
  const { onlyIf, breach, signal } = rule
  const calls = increaseOf(record, rule, onlyIf?.offset)
  if (onlyIf !== undefined) return { comparable: { calls, least: onlyIf.atLeast, window: signal.window } }
  if (breach === 'above') return {}
  // A record that covers only a part of the window is too small.
  return { before: `sum by (${groupOf(rule)}) (${seriesOf(record)} offset ${formatDuration(signal.window)})` }
}

/** A rule on the number of calls in a window. */
export function countQuery(metric: keyof typeof COUNTERS, rule: Counted, interval: number): PrometheusQuery {
  const all = recordOf(metric, rule)
  const expr = hysteresis(rule, increaseOf(all, rule), neededBefore(all, rule))
  return { expr: whilePolled(expr, rule, interval), records: [all], calls: WHOLE_VALUE }
}

/** Beyond the threshold, or firing and not yet cleared. */
export function hysteresis(rule: RuleOn<unknown>, value: string, { enough, comparable, before }: Needed = {}): string {
  const { breach, threshold, clear, keepFiringFor } = rule
  const firing = `on (${groupOf(rule)}) ${firesOf(rule)}`
  const isBeyond = (limit: number) => `${value} ${breach === 'above' ? '>' : '<'} ${limit}`
  const conditions = [enough, comparable].filter((each) => each !== undefined)
  const suffices = conditions.map(({ calls, least }) => ` and ${calls} >= ${least}`).join('')
  const parts = [`(${isBeyond(threshold)}${suffices}${before === undefined ? '' : ` and ${before}`})`]
  if (clear !== threshold || before !== undefined) parts.push(`(${isBeyond(clear)}${suffices} and ${firing})`)
  // A firing alert continues for one window without enough calls. Prometheus's own keep_firing_for covers the last part of
  // it.
  const all = conditions.map(({ calls, least }) => `(${calls} >= bool ${least})`).join(' * ')
  for (const condition of conditions) {
    const { calls, least, window } = condition
    if (window <= keepFiringFor) continue
    const had = `max_over_time(${conditions.length > 1 ? `(${all})` : all}[${formatDuration(window - keepFiringFor)}:]) > 0`
    const shown = condition === comparable ? isBeyond(clear) : value
    parts.push(`(${shown} and ${calls} < ${least} and ${had} and ${firing})`)
  }
  return parts.join('\nor ')
}

/** An expression of counters over a window, while the target is polled. */
export function whilePolled(expr: string, rule: RuleOn<unknown>, interval: number): string {
  const staleAfter = Math.max(MIN_STALE_AFTER_SECONDS, STALE_AFTER_INTERVALS * interval)
  return whileFresh(expr, rule, `${POLL_AGE} <= ${staleAfter}`, `${POLL_AGE} > ${staleAfter}`)
}

/**
 * An expression of gauges, while the target is polled. Unlike a window of counters, gauges vanish as soon as a scrape fails.
 */
export function whileScraped(expr: string, rule: RuleOn<unknown>, interval: number): string {
  const staleAfter = Math.max(MIN_STALE_AFTER_SECONDS, STALE_AFTER_INTERVALS * interval)
  const seen = `time() - max by (target) (${POLLED}) <= ${staleAfter}`
  return whileFresh(expr, rule, seen, `${LAST_POLL.record} unless on (target) (${seen})`)
}

/** The breach, while the target is polled. Otherwise alerts that fired continue to fire, without a value. */
function whileFresh(expr: string, rule: RuleOn<unknown>, seen: string, unseen: string): string {
  return `(${expr})\nand on (target) (${seen})\nor (NaN * ${firesOf(rule)} and on (target) (${unseen}))`
}

function firesOf(rule: RuleOn<unknown>): string {
  return `max by (${groupOf(rule)}) (ALERTS{alertname=${JSON.stringify(alertNameOf(rule))}, alertstate="firing"})`
}

/** A target that callwatch has polled for so long, and never successfully, according to Prometheus. */
export function neverPolled(seconds: number): string {
  const polled = `sum by (target) (callwatch_polls_total offset ${formatDuration(seconds)})`
  return `(0 * ${polled} + ${seconds} unless on (target) last_over_time(${POLLED}[1d]))`
}
