import type { FinishedCounts } from '../ledger/finished-calls.ts'
import type { RuleLabels } from './groups.ts'
import { isMoreSevere } from './match-keys.ts'
import type { Evidence } from './notification.ts'
import type { Rule } from './rule.ts'
import type { RuleValue } from './rule-value.ts'
import { isBeyond, windowOf } from './signal.ts'
import { addValue, type ValueAt } from './values-over-time.ts'

/**
 * A pending or firing alert: of a rule, a target and, where the rule is grouped, some labels. An inactive one has no
 * instance. Durable. Times are UNIX seconds by the host's clock.
 *
 * - `pending`: the breach has not lasted for long enough
 * - `firing`
 * - `recovering`: it counts as firing, but the value is cleared
 */
export type AlertInstance = {
  /** Rule and labels (groups.ts). Editing a threshold does not orphan an open incident. */
  readonly key: string
  readonly labels: RuleLabels
  /** The rule as it was last evaluated. */
  readonly rule: Rule
  readonly state: 'pending' | 'firing' | 'recovering'
  /** When the breach was first seen. */
  readonly since: number
  readonly firingSince: number | undefined
  /** Seconds of breach that count towards `for`; while recovering, seconds cleared towards `keep_firing_for`. */
  readonly credited: number
  readonly evaluatedAt: number
  /** Seconds between its last three evaluations; of a new one, between the last two successful polls. */
  readonly lastGaps?: readonly number[]
  readonly value: number
  /** The worst value so far. */
  readonly peak: number
  readonly calls: number | undefined
  readonly counts: FinishedCounts | undefined
  /** Since when a firing alert has had too few calls for a result, later by the time without polls. */
  readonly tooFewSince: number | undefined
  /** When it was last notified that it fires. */
  readonly lastNotifiedAt: number | undefined
  /** Where it fired: a rule that is edited meanwhile may have another threshold. Absent of a pending one. */
  readonly fired?: { signal: Rule['signal']['name'] } & Pick<Rule, 'breach' | 'threshold'>
  /** What explains the value; absent of a pending one. */
  readonly evidence?: Evidence
  /** Since when the calls finished that its first value as a firing one was measured by (UNIX seconds by the service's clock). */
  readonly measuredFrom?: number
  /** How the value went since it fires; absent of a pending one, and in what daemons show each other. */
  readonly values?: readonly ValueAt[]
}

/** Why an instance is notified. `expired` is no resolution: whether the breach ended is unknown. */
export type Change = 'firing' | 'reminder' | 'resolved' | 'expired'

/**
 * Two evaluations further apart than this many intervals, and this many times the smaller of the two gaps before, do not
 * prove that the breach lasted in between. One gap proves no pace: it may be an outage itself.
 */
const COUNTED_INTERVALS = 3

/** The next state of an instance; `change` where it must be notified. */
export type NextState = { instance: AlertInstance | undefined; change?: Change }

/**
 * When an evaluation happens, by the host's clock, how far apart evaluations should be, and how long ago the previous
 * successful poll is, where that is known (seconds).
 */
export type Evaluation = { now: number; interval: number; sincePoll?: number | undefined }

/**
 * inactive → pending → firing → recovering → inactive, one evaluation on.
 *
 * @param before undefined where the rule was inactive
 */
export function advance(
  before: AlertInstance | undefined,
  { key, rule }: Pick<AlertInstance, 'key' | 'rule'>,
  latest: RuleValue,
  evaluation: Evaluation,
): NextState {
  const { now } = evaluation
  const { value, calls, counts, labels } = latest
  const lastGaps = gapsAt(before, evaluation)
  if (before !== undefined && before.state !== 'pending') {
    if (latest.tooFew) return withTooFewCalls(before, rule, evaluation)
    // The rule has another signal now: what was worst before does not count.
    const isSameSignal = before.rule.signal.name === rule.signal.name && before.rule.breach === rule.breach
    const peak = isSameSignal && !isBeyond(rule, value, before.peak) ? before.peak : value
    const values = addValue(isSameSignal ? (before.values ?? []) : [], [now, value], rule.breach)
    const seen = {
      ...before,
      rule,
      value,
      calls,
      counts,
      peak,
      values,
      evaluatedAt: now,
      lastGaps,
      tooFewSince: undefined,
    }
    return isBeyond(rule, value, rule.clear)
      ? remind({ ...seen, state: 'firing', credited: 0 }, now, before.rule)
      : recover(before, { ...seen, state: 'recovering' }, evaluation)
  }
  if (latest.tooFew || !latest.mayBreach || !isBeyond(rule, value, rule.threshold)) return { instance: undefined }
  const pending: AlertInstance = {
    key,
    labels,
    rule,
    state: 'pending',
    since: before?.since ?? now,
    firingSince: undefined,
    credited: before === undefined ? 0 : before.credited + countedSince(before, evaluation),
    evaluatedAt: now,
    lastGaps,
    value,
    peak: before === undefined || isBeyond(rule, value, before.peak) ? value : before.peak,
    calls,
    counts,
    tooFewSince: undefined,
    lastNotifiedAt: undefined,
  }
  if (!hasLasted(pending.credited, rule.for, evaluation)) return { instance: pending }
  return { instance: firing(pending, now), change: 'firing' }
}

function firing(pending: AlertInstance, now: number): AlertInstance {
  const { signal, breach, threshold } = pending.rule
  return {
    ...pending,
    state: 'firing',
    credited: 0,
    firingSince: now,
    fired: { signal: signal.name, breach, threshold },
    lastNotifiedAt: now,
    values: [[now, pending.value]],
  }
}

/** The threshold at which an instance fired; of another signal than its rule has now it would say nothing. */
export function firedThreshold({ rule, fired }: Pick<AlertInstance, 'rule' | 'fired'>): number {
  const isSame = fired?.signal === rule.signal.name && fired.breach === rule.breach
  return isSame ? fired.threshold : rule.threshold
}

/** A firing instance, with a reminder where one is due, or where its rule is more severe than `ruleBefore`. */
export function remind(
  instance: AlertInstance,
  now: number,
  ruleBefore: Rule = instance.rule,
): { instance: AlertInstance; change?: Change } {
  const { rule, lastNotifiedAt = now } = instance
  const isWorse = isMoreSevere(rule, ruleBefore)
  // The clock stepped back: `repeat` restarts, or the next reminder would be late by as much.
  if (lastNotifiedAt > now && !isWorse) return { instance: { ...instance, lastNotifiedAt: now } }
  const hasWaited = rule.repeat > 0 && now - lastNotifiedAt >= rule.repeat
  const isDue = instance.state === 'firing' && (isWorse || hasWaited)
  return isDue ? { instance: { ...instance, lastNotifiedAt: now }, change: 'reminder' } : { instance }
}

/** Resolves once the value has been cleared for `keep_firing_for`. */
function recover(before: AlertInstance, seen: AlertInstance, evaluation: Evaluation): NextState {
  const lasted = before.state === 'recovering' ? before.credited + countedSince(before, evaluation) : 0
  if (hasLasted(lasted, seen.rule.keepFiringFor, evaluation)) return { instance: undefined, change: 'resolved' }
  return { instance: { ...seen, credited: lasted } }
}

/** Too few calls resolve nothing: for one window of polls the alert stays as it was, then it expires. */
function withTooFewCalls(before: AlertInstance, rule: Rule, evaluation: Evaluation): NextState {
  const { now } = evaluation
  const notCounted = now - before.evaluatedAt - countedSince(before, evaluation)
  const tooFewSince = before.tooFewSince === undefined ? now : before.tooFewSince + notCounted
  if (now - tooFewSince >= (windowOf(rule.signal) ?? 0)) return { instance: undefined, change: 'expired' }
  const values = addValue(before.values ?? [], [now, null], rule.breach)
  return remind({ ...before, rule, evaluatedAt: now, lastGaps: gapsAt(before, evaluation), tooFewSince, values }, now)
}

/** Rounded to the nearest evaluation, since the duration of polls varies: that must not cost another interval. */
function hasLasted(credited: number, needed: number, { interval }: Evaluation): boolean {
  return needed === 0 || (credited > 0 && credited >= needed - interval / 2)
}

/** Seconds since the last evaluation; 0 if that is too long ago to assume that the breach lasted. */
function countedSince({ evaluatedAt, lastGaps: [first = 0, second = 0] = [] }: AlertInstance, at: Evaluation): number {
  const gap = at.now - evaluatedAt
  return gap > 0 && gap <= COUNTED_INTERVALS * Math.max(at.interval, Math.min(first, second)) ? gap : 0
}

/** The last two gaps, with the one that this evaluation ends. */
function gapsAt(before: AlertInstance | undefined, { now, sincePoll }: Evaluation): number[] {
  if (before === undefined) return sincePoll === undefined ? [] : [sincePoll]
  return [...(before.lastGaps ?? []).slice(-1), now - before.evaluatedAt]
}
