import { RULE_LABELS, type Rule, type RuleLabels } from './rule.ts'

/** A Prometheus recording rule, as it stands in a rule file. */
export type PrometheusRecord = {
  record: string
  expr: string
  labels?: { of: string }
}

/** What alerts go by of these; the labels are those that each has beside its target. */
const COUNTERS = {
  callwatch_calls_total: [...RULE_LABELS, 'status'],
  callwatch_calls_started_total: RULE_LABELS,
}

const STATUSES = {
  any: '~"unanswered|rejected|canceled"',
  unanswered: '"unanswered"',
  rejected: '"rejected"',
  canceled: '"canceled"',
}

/**
 * The calls that a rule looks at, as one counter for each of its alerts, whichever daemon watches the target. What is
 * counted of calls goes on in another daemon where it was, so that of several daemons' counters the largest is right. An
 * increase of each daemon's own counter would miss what was counted between two scrapes of different daemons, and where a
 * target comes back, count twice what the other one counted meanwhile.
 *
 * @param failures only calls that failed, for this reason
 */
export function recordOf(
  metric: keyof typeof COUNTERS,
  { match, by }: Pick<Rule, 'match' | 'by'>,
  failures?: keyof typeof STATUSES,
): PrometheusRecord {
  const summed = COUNTERS[metric].filter((label) => !by.some((kept) => kept === label))
  const selector = selectorOf(match, failures === undefined ? '' : `status=${STATUSES[failures]}`)
  const given = RULE_LABELS.filter((label) => match[label] !== undefined).map((label) => `${label}=${match[label]}`)
  const reason = failures === undefined ? [] : [failures === 'any' ? 'failed' : failures]
  const of = [...given, ...reason, ...by.map((label) => `by ${label}`)].join(', ') || 'all'
  const labels = ['target', ...by].join(', ')
  return {
    record: `alerts:${metric}:max`,
    expr: `max by (${labels}) (sum without (${summed.join(', ')}) (${metric}${selector}))`,
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
