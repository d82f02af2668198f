import { windowStart } from '../ledger/failure-ratio.ts'
import { definitionOf } from './definition-of.ts'
import { isMatched } from './groups.ts'
import type { Evidence } from './alert-instance.ts'
import type { Rule } from './rule.ts'
import { hasTooFew, type RuleValue } from './rule-value.ts'
import { offsetOf, windowOf } from './signal.ts'
import type { Poll } from './trigger.ts'

/** Windows in a row that a notification shows. */
export const TREND_WINDOWS = 8

/** How far back a rule reads the latest finished calls (seconds), including the windows that its messages show. */
export function reachOf({ signal }: Rule): number {
  return TREND_WINDOWS * (windowOf(signal) ?? 0) + offsetOf(signal)
}

/** What explains a value in a notification: the top contributor, the trend, the forecast, other minutes. */
export function evidenceOf(rule: Rule, { labels, value }: Pick<RuleValue, 'labels' | 'value'>, poll: Poll): Evidence {
  const { signal } = rule
  const definition = definitionOf(signal)
  if ('value' in definition) {
    const forecast = definition.forecast?.(value, poll, signal)
    const otherMinutes = definition.otherMinutes?.(poll, signal)
    return { forecast, otherMinutes: Number.isNaN(otherMinutes) ? undefined : otherMinutes }
  }
  const { now } = poll
  const group = { match: { ...rule.match, ...labels } }
  const between = (from: number, to: number) =>
    definition.calls(poll, { from, to }, signal).filter((call) => isMatched(group, call.labels))
  const window = windowOf(signal)
  if (window === undefined) return { oldest: definition.oldest?.(between(now, now)) }
  const begin = windowStart(window, poll)
  const latest = between(begin, now)
  const measuredIn = { from: begin - offsetOf(signal), to: now - offsetOf(signal) }
  const contributor = () => definition.contributor?.(latest, rule)
  // The bars of a trend and the value of a rule with `relative_to` are not in the same unit.
  if (definition.relate !== undefined) return { window: measuredIn, contributor: contributor() }
  const earlier = Array.from({ length: TREND_WINDOWS - 1 }, (_, i) => {
    const to = now - (TREND_WINDOWS - 1 - i) * window
    return between(to - window, to)
  })
  const trend = [...earlier, latest].map((calls) => {
    const measured = definition.measure(calls, signal)
    return hasTooFew(signal, measured) ? null : measured.value
  })
  return { window: measuredIn, trend, contributor: trend.at(-1) === null ? undefined : contributor() }
}
