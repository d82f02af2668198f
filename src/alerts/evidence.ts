import { failureCount, windowStart } from '../ledger/failure-ratio.ts'
import { countByStatus, type Tally } from '../ledger/finished-calls.ts'
import { isMatched, labelValue } from './groups.ts'
import type { Contributor, Evidence } from './notification.ts'
import { callsOf, hasTooFew, measure, type Look, type MonthOf, type Reading } from './reading.ts'
import { RULE_LABELS, windowOf, type Rule, type Signal } from './rule.ts'

/** Windows in a row that a notification shows. */
export const TREND_WINDOWS = 8
const DAY = 86_400

/** How far back a rule looks at finished calls (seconds), what its messages show of earlier windows included. */
export function reachOf({ signal, onlyIf }: Rule): number {
  const window = windowOf(signal) ?? 0
  return Math.max(TREND_WINDOWS * window, window + (onlyIf?.offset ?? 0))
}

/** What helps to judge a value that is told: where it comes from, and how it came to be. */
export function evidenceOf(
  rule: Rule,
  { labels, value }: Pick<Reading, 'labels' | 'value'>,
  look: Look,
  monthOf: MonthOf,
): Evidence {
  const { signal } = rule
  if (signal.name === 'budget_minutes') {
    const { from, to } = monthOf(look.judged.now, signal.timezone)
    const { now } = look.judged
    const counted = now - Math.max(from, look.created)
    // A few hours tell nothing of a month.
    if (counted < DAY) return {}
    return { forecast: value + (value / counted) * (to - now) }
  }
  const window = windowOf(signal)
  if (window === undefined) return {}
  const { now } = look.judged
  const group = { match: { ...rule.match, ...labels } }
  const between = (from: number, to: number) =>
    callsOf(signal, look, from, to).filter((call) => isMatched(group, call.labels))
  const latest = between(windowStart(window, look.judged), now)
  const earlier = Array.from({ length: TREND_WINDOWS - 1 }, (_, i) => {
    const to = now - (TREND_WINDOWS - 1 - i) * window
    return between(to - window, to)
  })
  const trend = [...earlier, latest].map((calls) => {
    const measured = measure(signal, calls)
    return hasTooFew(signal, measured) ? null : measured.value
  })
  const tallies = latest.filter((call) => 'n' in call)
  const contributor = trend.at(-1) === null ? undefined : contributorOf(rule, tallies)
  return { trend, ...(contributor === undefined ? {} : { contributor }) }
}

/** The label value with the largest part in the failures, where there is more than one value to compare. */
function contributorOf({ signal, match, by }: Rule, calls: readonly Tally[]): Contributor | undefined {
  if (signal.name !== 'failure_ratio') return undefined
  const candidates = RULE_LABELS.filter((label) => match[label] === undefined && !by.includes(label)).flatMap(
    (label) => {
      const values = Map.groupBy(calls, ({ labels }) => labelValue(labels, label))
      return values.size < 2
        ? []
        : [...values].map(([value, inside]) => ({ label, value, ...failures(signal, inside) }))
    },
  )
  const ofFailures = failures(signal, calls).failures
  const [largest] = candidates.toSorted((a, b) => b.failures - a.failures || a.calls - b.calls)
  return largest === undefined || ofFailures === 0 ? undefined : { ...largest, ofFailures }
}

function failures({ reason }: Extract<Signal, { name: 'failure_ratio' }>, calls: readonly Tally[]) {
  const counts = countByStatus(calls)
  return { failures: failureCount(counts, reason), calls: counts.total }
}
