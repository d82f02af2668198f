import { formatDuration } from '../schema/duration-text.ts'
import { definitionOf } from './definition-of.ts'
import {
  alertNameOf,
  LAST_POLL,
  NotExpressible,
  WHOLE_VALUE,
  type PrometheusQuery,
  type PrometheusRecord,
} from './promql.ts'
import { RULE_LABELS } from './groups.ts'
import type { Rule } from './rule.ts'
import { runbookOf, runbookPage } from './runbooks.ts'
import { describedWindow, windowOf, type Unit } from './signal.ts'

/** A Prometheus alerting rule. Durations in seconds. */
export type PrometheusRule = {
  alert: string
  expr: string
  for: number
  keepFiringFor: number
  labels: Record<string, string>
  annotations: Record<string, string>
  /** The recording rules that it needs. */
  records: readonly PrometheusRecord[]
}

/**
 * The Prometheus rule that is equivalent to one of callwatch's. It uses only callwatch's counters and two timestamps, not its
 * windows or results. It has the same hysteresis, and the same treatment of too few calls and of a target that cannot be
 * polled.
 *
 * @param interval seconds between two polls
 * @param runbooks the address of the runbooks of the shipped alerts
 * @throws {NotExpressible} if PromQL cannot express the rule
 */
export function prometheusRule(rule: Rule, interval: number, runbooks?: string): PrometheusRule {
  const { signal, severity, keepFiringFor, onlyIf } = rule
  if (onlyIf !== undefined && windowOf(signal) === undefined) {
    throw new NotExpressible(`${signal.name} has no window that only_if could compare with`)
  }
  const query = definitionOf(signal).prometheus?.(rule, interval)
  if (query === undefined) {
    throw new NotExpressible(`${signal.name} has no counter that callwatch exports`)
  }
  return {
    alert: alertNameOf(rule),
    expr: query.expr,
    for: rule.for,
    keepFiringFor,
    labels: { severity },
    annotations: annotationsOf(rule, query, runbooks),
    records: [...query.records, LAST_POLL],
  }
}

/**
 * The annotation that links the runbook of an alert about callwatch. Without an address there is none: receivers would show a
 * relative path as a broken link.
 *
 * @param runbooks the address of the runbooks
 */
export function linkOf(alert: string, runbooks: string | undefined): Record<string, string> {
  const url = runbookPage(alert, runbooks)
  return url === undefined ? {} : { runbook_url: literal(url) }
}

/**
 * The summary in one line, the rule's description and its runbook, as Prometheus templates. Filled in, they read like
 * callwatch's own messages.
 */
function annotationsOf(rule: Rule, query: PrometheusQuery, runbooks: string | undefined): Record<string, string> {
  const { description } = rule
  const url = runbookOf(rule, runbooks)
  return {
    summary: summaryOf(rule, query),
    ...(description === undefined ? {} : { description: templateOf(description.toWellFormed(), rule, query) }),
    ...(url === undefined ? {} : { runbook_url: literal(url.toWellFormed()) }),
  }
}

/** `HighFailureRate on production (type=video): 42.5%, threshold 30%`. */
function summaryOf(rule: Rule, { value }: PrometheusQuery): string {
  const { unit } = definitionOf(rule.signal)
  const group = rule.by.map((label) => `${label}={{ $labels.${label} }}`).join(', ')
  const measured = value ?? `${valueIn(unit)}, threshold ${thresholdIn(unit, rule.threshold)}`
  return `${literal(rule.name.toWellFormed())} on {{ $labels.target }}${group && ` (${group})`}: ${measured}`
}

/** For a placeholder without a value, as in callwatch's own messages. */
const NOTHING = 'n/a'

function templateOf(description: string, rule: Rule, { value, calls }: PrometheusQuery): string {
  const { unit } = definitionOf(rule.signal)
  const window = describedWindow(rule.signal)
  const fillings: Record<string, string> = {
    value: value ?? valueIn(unit),
    threshold: thresholdIn(unit, rule.threshold),
    calls: calls ?? NOTHING,
    window: window === undefined ? NOTHING : formatDuration(window),
    labels: labelsOf(rule),
  }
  // Every second part is the name of a placeholder.
  const parts = description.split(/\{(value|threshold|calls|window|labels)\}/)
  return parts.map((part, i) => (i % 2 === 0 ? literal(part) : fillings[part])).join('')
}

/** Escapes braces. Two braces would begin a template action, and so would one next to the action that follows it. */
export function literal(text: string): string {
  return text.replaceAll(/\{+/g, (braces) => `{{ "${braces}" }}`)
}

function valueIn(unit: Unit): string {
  if (unit === 'share') return '{{ $value | humanizePercentage }}'
  if (unit === 'seconds') return '{{ $value | humanizeDuration }}'
  return `${WHOLE_VALUE} {{ if eq (printf "%.0f" $value) "1" }}call{{ else }}calls{{ end }}`
}

function thresholdIn(unit: Unit, threshold: number): string {
  if (unit === 'share') return `${Number((threshold * 100).toPrecision(6))}%`
  if (unit === 'seconds') return formatDuration(threshold)
  return `${threshold} ${threshold === 1 ? 'call' : 'calls'}`
}

/** The calls of the alert: `type={{ $labels.type }}, mode=call`. If it selects all calls, its target. */
function labelsOf({ match, by }: Rule): string {
  const labels = RULE_LABELS.flatMap((label) => {
    if (by.includes(label)) return [`${label}={{ $labels.${label} }}`]
    return match[label] === undefined ? [] : [`${label}=${match[label]}`]
  })
  return labels.join(', ') || 'target={{ $labels.target }}'
}
