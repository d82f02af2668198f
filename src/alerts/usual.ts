import { windowStart, type WindowEnd } from '../ledger/failure-ratio.ts'
import type { Period } from '../ledger/finished-calls.ts'
import { formatNumber, formatShare } from '../text/format.ts'
import type { RuleOn } from './rule-keys.ts'
import { windowOf, type Measurement } from './signal.ts'

/** How long before a window is what is usual (seconds). It ends at a whole hour, so that its calls are read once an hour. */
const USUAL_SECONDS = 7 * 86_400
const HOUR = 3600

/** A share of fewer calls says nothing of what is usual. */
const MIN_USUAL_CALLS = 100

/** By how much the share must exceed the usual one; undefined of a rule without `above_usual`. */
export function aboveUsual(signal: object): number | undefined {
  return 'aboveUsual' in signal && typeof signal.aboveUsual === 'number' ? signal.aboveUsual : undefined
}

/**
 * The seven days until the last whole hour before the window of a rule, from their beginning until before their end; undefined of a rule
 * without `above_usual`.
 */
export function usualPeriod({ signal }: { signal: object }, end: WindowEnd): Period | undefined {
  if (aboveUsual(signal) === undefined) return undefined
  const to = Math.floor(windowStart(windowOf(signal) ?? 0, end) / HOUR) * HOUR
  return { from: to - USUAL_SECONDS, to }
}

/** How far before an evaluation the calls of that time may lie (seconds). */
export function usualReach({ signal }: { signal: object }): number {
  return aboveUsual(signal) === undefined ? 0 : (windowOf(signal) ?? 0) + HOUR + USUAL_SECONDS
}

/** Those of several rules. */
export function usualPeriods(rules: readonly { signal: object }[], end: WindowEnd): readonly Period[] {
  const periods = rules.flatMap((rule) => usualPeriod(rule, end) ?? [])
  return [...new Map(periods.map((period) => [period.to, period])).values()]
}

/** The usual share, by what was measured in that time; undefined of too few calls. */
export function usualShare({ value, calls = 0 }: Measurement): number | undefined {
  return calls < MIN_USUAL_CALLS ? undefined : value
}

/**
 * What a rule with `above_usual` adds to its words: `, 15 points above the usual 44%` if that is its threshold, `, and 15 points more than
 * usual` if the usual share is not known; empty if its own threshold is above that.
 */
export function usualText({ signal, threshold, usual }: Omit<Thresholds, 'clear'> & { usual?: number | undefined }) {
  const above = aboveUsual(signal)
  if (above === undefined || (usual ?? Infinity) + above < threshold) return ''
  const points = `${formatNumber(above * 100)} points`
  return usual === undefined ? `, and ${points} more than usual` : `, ${points} above the usual ${formatShare(usual)}`
}

type Thresholds = Pick<RuleOn<object>, 'signal' | 'threshold' | 'clear'>

/** A rule with the thresholds that it has where a share is usual: never below its own. */
export function withUsual<Rule extends Thresholds>(rule: Rule, usual: number | undefined): Rule {
  const raised = (usual ?? NaN) + (aboveUsual(rule.signal) ?? NaN)
  return raised > rule.threshold ? { ...rule, threshold: raised, clear: rule.clear + raised - rule.threshold } : rule
}
