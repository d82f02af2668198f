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
  /** What must be recorded before it is evaluated. */
  records: readonly PrometheusRecord[]
  /** The value in a template, where it is not of the signal's unit. */
  value?: string
  /** How many calls are behind the value, in a template. */
  calls?: string
}

/** Why a rule has no counterpart in Prometheus. */
export class NotExpressible extends Error {
  override readonly name = 'NotExpressible'
}

/** The name of a rule's alert in Prometheus, which has those of other programs beside it. */
export function alertNameOf({ name }: { readonly name: string }): string {
  return `Callwatch${name}`
}

/** A value of calls, in a template: an increase over a window is extrapolated, and calls are whole. */
export const WHOLE_VALUE = '{{ printf "%.0f" $value }}'

/** Without a successful poll for more intervals, and more seconds, than these, the counters say nothing of a target. */
const STALE_AFTER_INTERVALS = 4
const MIN_STALE_AFTER_SECONDS = 60

const POLLED = 'callwatch_poll_last_success_timestamp_seconds'
/** How many targets no daemon owns, of the daemons of one job. */
export const UNOWNED = 'max by (job) (callwatch_targets) - sum by (job) (callwatch_targets_owned)'
/** For this long a daemon that was just there still counts: while it restarts, or targets move. */
const ALL_OWNED = `max_over_time((${UNOWNED} <= bool 0)[1m:]) > 0`
/**
 * When a target was polled last, also while no daemon owns it or callwatch cannot be scraped, for a day. Where all targets
 * are owned, one without a series was removed: what fired ends then, but not while the target moves from one instance to
 * another.
 */
export const LAST_POLL: PrometheusRecord = {
  record: `alerts:${POLLED}:max`,
  expr: `max by (target) (last_over_time(${POLLED}[2m]) or last_over_time(${POLLED}[1d]) unless on (job) (${ALL_OWNED}))`,
}
/** Seconds since the last successful poll of a target. */
export const POLL_AGE = `time() - ${LAST_POLL.record}`

/** The counters that alerts use; the labels are those that each has beside its target. */
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
 * The calls that a rule evaluates, as one counter for each of its alerts, whichever daemon owns the target. What is
 * counted of calls continues in another daemon where it was, so that of several daemons' counters the largest is right. An
 * increase of each daemon's own counter would miss what was counted between two scrapes of different daemons, and where a
 * target comes back, count twice what the other one counted meanwhile.
 *
 * @param failures only calls that failed, for this reason
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

/** Where a record is found: its name with what selects it, and more. */
export function seriesOf({ record, labels }: PrometheusRecord, more: readonly string[] = []): string {
  const matchers = [...(labels === undefined ? [] : [`of="${labels.of}"`]), ...more]
  return matchers.length === 0 ? record : `${record}{${matchers.join(', ')}}`
}

/** The labels that a rule matches, in braces; nothing where it matches all. */
export function selectorOf(match: RuleLabels, more = ''): string {
  const given = RULE_LABELS.filter((label) => match[label] !== undefined)
  const matchers = [...given.map((label) => `${label}="${match[label]}"`), ...(more === '' ? [] : [more])]
  return matchers.length === 0 ? '' : `{${matchers.join(', ')}}`
}

/** The labels of a rule's alerts. */
export function groupOf({ by }: Pick<Counted, 'by'>): string {
  return ['target', ...by].join(', ')
}

/** How much a counter grew in a rule's window, or in the one so many seconds earlier. */
export function increaseOf(record: PrometheusRecord, { signal, by }: Counted, offset = 0): string {
  const window = formatDuration(signal.window)
  const earlier = offset === 0 ? '' : ` offset ${formatDuration(offset)}`
  return `sum by (${groupOf({ by })}) (increase(${seriesOf(record)}[${window}]${earlier}))`
}

/** Conditions of a breach beside the value. */
type Needed = {
  /** The calls that any result requires; a firing alert is kept for one window without them. */
  enough?: { calls: string; least: number; window: number }
  /** What must have been before, such as the calls that `only_if` requires: a condition of the breach alone. */
  before?: string
}

/** What must have been recorded before, that a breach counts. */
export function neededBefore(record: PrometheusRecord, rule: Counted): Needed {
  const { onlyIf, breach, signal } = rule
  if (onlyIf !== undefined) return { before: `${increaseOf(record, rule, onlyIf.offset)} >= ${onlyIf.atLeast}` }
  if (breach === 'above') return {}
  // What was recorded for a part of the window only is too little by itself.
  return { before: `sum by (${groupOf(rule)}) (${seriesOf(record)} offset ${formatDuration(signal.window)})` }
}

/** A number of calls in a window, by a counter of them. */
export function countQuery(metric: keyof typeof COUNTERS, rule: Counted, interval: number): PrometheusQuery {
  const all = recordOf(metric, rule)
  const expr = hysteresis(rule, increaseOf(all, rule), neededBefore(all, rule))
  return { expr: whilePolled(expr, rule, interval), records: [all], calls: WHOLE_VALUE }
}

/** Beyond the threshold, or firing and not yet cleared. */
export function hysteresis(rule: RuleOn<unknown>, value: string, { enough, before }: Needed = {}): string {
  const { breach, threshold, clear, keepFiringFor } = rule
  const firing = `on (${groupOf(rule)}) ${firesOf(rule)}`
  const isBeyond = (limit: number) => `${value} ${breach === 'above' ? '>' : '<'} ${limit}`
  const suffices = enough === undefined ? '' : ` and ${enough.calls} >= ${enough.least}`
  const parts = [`(${isBeyond(threshold)}${suffices}${before === undefined ? '' : ` and ${before}`})`]
  if (clear !== threshold || before !== undefined) parts.push(`(${isBeyond(clear)}${suffices} and ${firing})`)
  // It is kept for one window without enough calls, the last part of which is Prometheus's own keep_firing_for.
  const kept = (enough?.window ?? 0) - keepFiringFor
  if (enough !== undefined && kept > 0) {
    const had = `max_over_time((${enough.calls} >= bool ${enough.least})[${formatDuration(kept)}:]) > 0`
    parts.push(`(${value} and ${enough.calls} < ${enough.least} and ${had} and ${firing})`)
  }
  return parts.join('\nor ')
}

/** An expression of counters over a window, as long as the target is polled. */
export function whilePolled(expr: string, rule: RuleOn<unknown>, interval: number): string {
  const staleAfter = Math.max(MIN_STALE_AFTER_SECONDS, STALE_AFTER_INTERVALS * interval)
  return whileFresh(expr, rule, `${POLL_AGE} <= ${staleAfter}`, `${POLL_AGE} > ${staleAfter}`)
}

/** An expression of gauges, as long as the target is polled: unlike a window of counters they are gone at once when a scrape fails. */
export function whileScraped(expr: string, rule: RuleOn<unknown>, interval: number): string {
  const staleAfter = Math.max(MIN_STALE_AFTER_SECONDS, STALE_AFTER_INTERVALS * interval)
  const seen = `time() - max by (target) (${POLLED}) <= ${staleAfter}`
  return whileFresh(expr, rule, seen, `${LAST_POLL.record} unless on (target) (${seen})`)
}

/** The breach, while the target is polled; while it is not, what fired before continues to fire, without a value. */
function whileFresh(expr: string, rule: RuleOn<unknown>, seen: string, unseen: string): string {
  return `(${expr})\nand on (target) (${seen})\nor (NaN * ${firesOf(rule)} and on (target) (${unseen}))`
}

function firesOf(rule: RuleOn<unknown>): string {
  return `max by (${groupOf(rule)}) (ALERTS{alertname=${JSON.stringify(alertNameOf(rule))}, alertstate="firing"})`
}

/** A target that has been polled for so long, and never with success as far as Prometheus knows. */
export function neverPolled(seconds: number): string {
  const polled = `sum by (target) (callwatch_polls_total offset ${formatDuration(seconds)})`
  return `(0 * ${polled} + ${seconds} unless on (target) last_over_time(${POLLED}[1d]))`
}
