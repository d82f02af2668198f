import type { Rule, RuleLabel, RuleLabels, Signal } from '../../../alerts/rule.ts'
import type { FileRule } from './rule-schema.ts'

/** What rules of some signals have and others do not. */
type Partly = {
  above?: number
  below?: number
  clear?: number
  match?: RuleLabels
  by?: RuleLabel[]
  onlyIf?: { offset: number; atLeast: number }
}

/** From a rule of the file, checked, to what alerts need. */
export function resolveRule(rule: FileRule): Rule {
  const { name, severity, keepFiringFor, repeat, runbookUrl, description } = rule
  const { above, below, clear, match = {}, by = [], onlyIf }: Partly = rule
  const threshold = above ?? below
  if (threshold === undefined) throw new Error('a rule without a threshold passed the checks')
  return {
    name,
    signal: signalOf(rule),
    severity,
    breach: above === undefined ? 'below' : 'above',
    threshold,
    clear: clear ?? threshold,
    match,
    by,
    for: rule.for,
    keepFiringFor,
    repeat,
    ...(onlyIf && { onlyIf }),
    ...(runbookUrl !== undefined && { runbookUrl }),
    ...(description !== undefined && { description }),
  }
}

function signalOf(rule: FileRule): Signal {
  switch (rule.signal) {
    case 'failure_ratio': {
      const { signal: name, reason, window, minCalls, confidence } = rule
      return { name, reason, window, minCalls, ...(confidence !== undefined && { confidence }) }
    }
    case 'calls':
    case 'calls_started':
      return { name: rule.signal, window: rule.window }
    case 'minutes':
      return { name: rule.signal, window: rule.window, media: rule.media }
    case 'in_progress':
    case 'poll_age':
      return { name: rule.signal }
    case 'answer_delay_p95':
    case 'duration_mean':
      return { name: rule.signal, window: rule.window, minCalls: rule.minCalls }
    case 'stuck_calls':
      return { name: rule.signal, longerThan: rule.longerThan }
    default:
      return { name: rule.signal, limit: rule.limit, timezone: rule.timezone }
  }
}

/** The way back, every default written out. */
export function ruleToFile({ signal, breach, threshold, match, by, ...common }: Rule): FileRule {
  const { name, ...own } = signal
  const labels = name === 'poll_age' || name === 'budget_minutes' ? {} : { match, by }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a signal's fields are its rule's keys, which the language cannot follow
  return { ...common, signal: name, ...own, ...labels, [breach]: threshold } as FileRule
}
