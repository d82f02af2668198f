import { windowStart } from '../ledger/failure-ratio.ts'
import { finishedSince, keptFinishes } from '../ledger/finished-calls.ts'
import type { Labels } from '../ledger/call.ts'
import { definitionOf } from './definition-of.ts'
import { documentedGroups, groupCalls, instanceKey, type RuleLabels } from './groups.ts'
import { comparedWith, windowOfOnlyIf, windowsThen, type Compared } from './relative.ts'
import type { Rule } from './rule.ts'
import { isBeyond, numberOf, offsetOf, windowOf, type AnySignal, type Measurement, type Window } from './signal.ts'
import type { Signal } from './signals.ts'
import type { Poll, Trigger } from './trigger.ts'
import { usualPeriod, usualShare, withUsual } from './usual.ts'

/** A rule's value for one group of calls at one moment. */
export type RuleValue = Measurement & {
  labels: RuleLabels
  /** What the value is relative to; absent of a rule without `relative_to`. */
  compared?: Compared | undefined
  /** The usual share, which raises the thresholds of a rule with `above_usual`; absent if it is not known. */
  usual?: number | undefined
  /** Too few calls for a result, now or in the windows that it is compared with. */
  tooFew: boolean
  /** Whether there were as many calls before as `only_if` demands. */
  isComparable: boolean
  /** Whether a value beyond the threshold may be a breach: it is comparable, and not of the time before the set-up alone. */
  mayBreach: boolean
  /** Whether it is beyond the threshold with the rule's `confidence`; true of a rule without. */
  isSure: boolean
}

/** The worst of a rule's values at one moment. */
export type WorstValue = Pick<RuleValue, 'value' | 'calls' | 'usual' | 'labels'>

/** Whether a value could be a breach. It is not one with too few calls, or without calls to compare with. */
export const couldBreach = ({ tooFew, mayBreach, value }: RuleValue) => !tooFew && mayBreach && Number.isFinite(value)

/** The first of the worst values. */
export function worstOf<One extends { value: number }>(
  rule: Pick<Rule, 'breach'>,
  values: Iterable<One>,
): One | undefined {
  return [...values].reduce<One | undefined>(
    (worst, each) => (worst === undefined || isBeyond(rule, each.value, worst.value) ? each : worst),
    undefined,
  )
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
  known: readonly RuleLabels[],
): Map<string, RuleValue> | undefined {
  const { name, signal, breach } = rule
  const definition = definitionOf(signal)
  if ('value' in definition)
    return ungrouped(name, definition.value(trigger, signal), (poll) => definition.mayBreach?.(poll) !== false, trigger)
  if (trigger.kind === 'tick' || (breach === 'below' && trigger.limited)) return undefined
  const { now } = trigger
  const window = { from: windowStart(windowOf(signal) ?? 0, trigger), to: now }
  const then = earlierCalls(rule, definition, trigger)
  const usually = usualShares(rule, trigger)
  const isOfNow = callsSinceSetUp(rule, definition, trigger, window)
  const expected = expectedGroups(rule)
  const values = new Map<string, RuleValue>()
  const groups = groupCalls<{ readonly labels: Labels }>(rule, definition.calls(trigger, window, signal), known)
  for (const [key, { labels, calls }] of groups) {
    if (expected?.has(key) === false) continue
    const measured = definition.measure(calls, signal)
    const isComparable = then.isComparable(key)
    const usual = usually.get(key)
    const isSure = definition.isSure?.(measured, withUsual(rule, usual)) !== false
    const mayBreach = isComparable && isOfNow(key)
    const tooFew = hasTooFew(signal, measured)
    const value = { ...measured, labels, usual, tooFew, isComparable, mayBreach, isSure }
    values.set(key, { ...value, ...then.relative(key, value) })
  }
  return values
}

function ungrouped(
  key: string,
  value: number | undefined,
  mayBreachAt: (poll: Poll) => boolean,
  trigger: Trigger,
): Map<string, RuleValue> | undefined {
  if (value === undefined) return undefined
  const mayBreach = trigger.kind === 'tick' || mayBreachAt(trigger)
  return new Map([
    [key, { value, labels: {}, tooFew: Number.isNaN(value), isComparable: true, mayBreach, isSure: true }],
  ])
}

/** Which groups of a window have a call that had not finished at the set-up. */
function callsSinceSetUp(rule: Rule, definition: CallSignal, poll: Poll, window: Window): (key: string) => boolean {
  const { signal } = rule
  const since = Math.floor(poll.created)
  if (window.from - offsetOf(signal) >= since || windowOf(signal) === undefined) return () => true
  const finished = finishedSince(poll.finished, since)
  const groups = groupCalls<{ readonly labels: Labels }>(rule, definition.calls({ ...poll, finished }, window, signal))
  return (key) => (groups.get(key)?.calls.length ?? 0) > 0
}

/** A value that the service does not document may occur once and never again, so its absence is not a breach. */
function expectedGroups(rule: Rule): ReadonlySet<string> | undefined {
  if (rule.breach === 'above') return undefined
  return new Set(documentedGroups(rule).map((labels) => instanceKey(rule.name, labels)))
}

const NONE = keptFinishes()

type CallSignal = Extract<AnySignal, { measure: unknown }>

/** What a rule compares with: the calls of its earlier windows, by the keys of their groups. */
function earlierCalls(rule: Rule, definition: CallSignal, poll: Poll) {
  const { signal, onlyIf } = rule
  const { now, knownFrom, previousSuccess = now, earlier } = poll
  const pollThen = { ...poll, finished: earlier?.finished ?? NONE }
  const callsIn = (window: Window) =>
    groupCalls<{ readonly labels: Labels }>(rule, definition.calls(pollThen, window, signal))
  const ago = offsetOf(signal)
  const isSeen = ({ from, to }: Window) =>
    knownFrom <= from - ago && earlier?.gaps.some((gap) => gap.from <= to - ago && gap.to >= from - ago) === false
  const begin = now - (windowOf(signal) ?? 0)
  const before = windowOfOnlyIf(rule, now)
  const ofOnlyIf = before && callsIn(before)
  // Without a poll since the window began, its calls are those of a longer time.
  const isKnown = previousSuccess >= begin && isSeen({ from: begin, to: now })
  const isKnownThen = (window: Window) => window.to <= previousSuccess && isSeen(window)
  const then = isKnown ? windowsThen(rule, now).filter(isKnownThen).map(callsIn) : []
  return {
    /** Whether a group had as many calls before as `only_if` demands. */
    isComparable: (key: string) => onlyIf === undefined || numberOf(ofOnlyIf?.get(key)?.calls ?? []) >= onlyIf.atLeast,
    /** What a group's value is relative to; nothing without `relative_to`. */
    relative: (key: string, { value: now, tooFew }: RuleValue): Partial<RuleValue> => {
      if (definition.relate === undefined) return {}
      const measured = then.map((groups) => definition.measure(groups.get(key)?.calls ?? [], signal))
      const compared = comparedWith(measured, now, signal)
      const value = compared === undefined ? NaN : definition.relate(compared)
      return { value, tooFew: tooFew || !Number.isFinite(value), compared }
    },
  }
}

/** The usual shares of a rule with `above_usual` at a poll, where they are known, by the key of each alert that it can raise. */
export function usualShares(rule: Rule, poll: Pick<Poll, 'now' | 'previousSuccess' | 'usual'>): Map<string, number> {
  const definition = definitionOf(rule.signal)
  const period = usualPeriod(rule, poll)
  const summed = poll.usual.find(({ to }) => to === period?.to)
  if (summed === undefined || 'value' in definition) return new Map()
  const groups = [...groupCalls(rule, summed.tallies)]
  const shares = groups.map(([key, { calls }]) => [key, usualShare(definition.measure(calls, rule.signal))] as const)
  return new Map(shares.flatMap(([key, share]) => (share === undefined ? [] : [[key, share]])))
}

/** Whether a value is based on too few calls for a result. */
export function hasTooFew(signal: Signal, { calls = 0 }: Measurement): boolean {
  return 'minCalls' in signal && calls < Math.max(1, signal.minCalls)
}
