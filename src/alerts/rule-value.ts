import { earlierBy } from '../clock/calendar.ts'
import { windowStart } from '../ledger/failure-ratio.ts'
import type { Labels } from '../ledger/call.ts'
import { definitionOf } from './definition-of.ts'
import { documentedGroups, groupCalls, instanceKey, type RuleLabels } from './groups.ts'
import type { Rule } from './rule.ts'
import { numberOf, windowOf, type Measurement } from './signal.ts'
import type { Signal } from './signals.ts'
import type { MonthOf, Trigger } from './trigger.ts'

/** A rule's value for one group of calls at one moment. */
export type RuleValue = Measurement & {
  labels: RuleLabels
  /** Too few calls for a result. */
  tooFew: boolean
  /** Whether there were as many calls before as `only_if` demands. */
  isComparable: boolean
  /** Whether a value beyond the threshold is a breach: it is comparable, and statistically sure enough. */
  mayBreach: boolean
}

/**
 * A rule's values on this trigger, by the key of each alert that it can raise; undefined if the trigger has no data for the
 * rule.
 *
 * @param known groups that have a value even without calls
 */
export function ruleValues(
  rule: Rule,
  trigger: Trigger,
  monthOf: MonthOf,
  known: readonly RuleLabels[],
): Map<string, RuleValue> | undefined {
  const { name, signal, breach } = rule
  const definition = definitionOf(signal)
  if ('value' in definition) return ungrouped(name, definition.value(trigger, monthOf, signal))
  if (trigger.kind === 'tick' || (breach === 'below' && trigger.limited)) return undefined
  const { now } = trigger
  const length = windowOf(signal) ?? 0
  const callsBetween = (from: number, to: number, groups?: readonly RuleLabels[]) =>
    groupCalls<{ readonly labels: Labels }>(rule, definition.calls(trigger, { from, to }, signal), groups)
  const isComparable = comparison(rule, now, (to) => callsBetween(to - length, to))
  // A value that the service does not document may occur once and never again, so its absence is not a breach.
  const expected =
    breach === 'below' ? new Set(documentedGroups(rule).map((labels) => instanceKey(name, labels))) : undefined
  const values = new Map<string, RuleValue>()
  for (const [key, { labels, calls }] of callsBetween(windowStart(length, trigger), now, known)) {
    if (expected?.has(key) === false) continue
    const measured = definition.measure(calls, signal)
    const comparable = isComparable(key)
    const mayBreach = comparable && definition.isSure?.(measured, rule) !== false
    values.set(key, { ...measured, labels, tooFew: hasTooFew(signal, measured), isComparable: comparable, mayBreach })
  }
  return values
}

function ungrouped(key: string, value: number | undefined): Map<string, RuleValue> | undefined {
  if (value === undefined) return undefined
  const measured = { value, calls: undefined, counts: undefined }
  return new Map([[key, { ...measured, labels: {}, tooFew: Number.isNaN(value), isComparable: true, mayBreach: true }]])
}

/** Whether a group, by its key, had as many calls before as `only_if` demands. */
function comparison(
  { onlyIf, signal }: Rule,
  now: number,
  callsUntil: (time: number) => ReadonlyMap<string, { calls: readonly object[] }>,
): (key: string) => boolean {
  if (onlyIf === undefined) return () => true
  const before = callsUntil(earlierBy(now, onlyIf.offset, 'timezone' in signal ? signal.timezone : undefined))
  return (key) => numberOf(before.get(key)?.calls ?? []) >= onlyIf.atLeast
}

/** Whether a value is based on too few calls for a result. */
export function hasTooFew(signal: Signal, { calls = 0 }: Measurement): boolean {
  return 'minCalls' in signal && calls < Math.max(1, signal.minCalls)
}
