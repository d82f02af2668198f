import { STALE_INTERVALS } from '../clock/intervals.ts'
import type { RuleLabels } from './groups.ts'
import { relativeTo } from './relative.ts'
import type { Rule } from './rule.ts'
import type { RuleValue } from './rule-value.ts'
import { isBeyond, windowOf, type Change, type Contributor, type OldestCall, type Window } from './signal.ts'
import { withUsual } from './usual.ts'
import { addValue, type ValueAt } from './values-over-time.ts'

export const STATES = ['pending', 'firing', 'recovering'] as const

/** What explains the value of an alert. */
export type Evidence = {
  /** The top contributor to the failures. */
  contributor?: Contributor | undefined
  /** The values of the latest windows, oldest first; null for a window with too few calls. */
  trend?: readonly (number | null)[]
  /** Of calls that are open for too long, the one that began first. */
  oldest?: OldestCall | undefined
  /** For a budget: the share of the limit that the month will reach at this rate. */
  forecast?: number | undefined
  /** For a budget: the minutes of the month by the formula that its rule does not use. */
  otherMinutes?: number | undefined
  /** The window in which the measured calls finished, both ends included (UNIX seconds by the service's clock). */
  window?: Window
  /** Why polls fail or, for `request_errors`, most requests do. */
  cause?: string | undefined
  /** For `poll_age`: when the last successful poll ended. */
  lastPoll?: number | undefined
  /** For `request_errors`: no request has failed lately, so the errors of the window are past. */
  isQuiet?: boolean
}

/** What an instance has of its latest value. */
type Measured = Readonly<Pick<RuleValue, 'value' | 'calls' | 'counts' | 'compared' | 'usual'>>

type Fired = { signal: Rule['signal']['name']; relativeTo?: number | undefined } & Pick<Rule, 'breach' | 'threshold'>

/**
 * A pending or firing alert of one rule and target and, if the rule has `by`, one group of labels. An inactive alert has no
 * instance. The store keeps instances. Times are UNIX seconds by the host's clock.
 *
 * - `pending`: the breach has not lasted long enough
 * - `firing`
 * - `recovering`: the alert still fires, but the value is cleared
 */
export type AlertInstance = Measured & {
  /**
   * Rule name and labels (groups.ts). The threshold is not part of the key: an alert stays open when its threshold is edited.
   */
  readonly key: string
  readonly labels: RuleLabels
  /** The rule as it was last evaluated. */
  readonly rule: Rule
  readonly state: (typeof STATES)[number]
  /** When the breach was first seen. */
  readonly since: number
  readonly firingSince?: number | undefined
  /** Seconds of breach that count towards `for`. While recovering: cleared seconds that count towards `keep_firing_for`. */
  readonly credited: number
  readonly evaluatedAt: number
  /**
   * The gaps between its last three evaluations (seconds). A new instance has the gap between the last two successful polls.
   */
  readonly lastGaps?: readonly number[]
  /** The worst value so far. */
  readonly peak: number
  /** Since when a firing alert has had too few calls for a result. Time without polls moves this forward. */
  readonly tooFewSince?: number | undefined
  /** When its value was measured, while there are too few calls for another one. */
  readonly measuredAt?: number | undefined
  /** The signal and threshold with which it fired, since the rule may be edited meanwhile. Absent while pending. */
  readonly fired?: Fired
  /** What explains the value. Absent while pending. */
  readonly evidence?: Evidence
  /** Start of the window in which it first fired (UNIX seconds by the service's clock). */
  readonly measuredFrom?: number
  /** Its values since it fired. Absent while pending, and in the overviews that daemons exchange. */
  readonly values?: readonly ValueAt[]
}

/** When a pending alert fires if its breach lasts (UNIX seconds by the host's clock). */
export const firesAt = ({ evaluatedAt, credited, rule }: AlertInstance) => evaluatedAt + rule.for - credited

/** The next state of an instance, and the change to notify, if any. */
export type NextState = { instance: AlertInstance | undefined; change?: Change }

/**
 * When an evaluation happens (host's clock), how far apart evaluations should be, and how long ago the previous successful
 * poll was, if known. Seconds.
 */
export type Evaluation = { now: number; interval: number; sincePoll?: number | undefined }

/**
 * Advances an alert by one evaluation: inactive → pending → firing → recovering → inactive.
 *
 * @param before undefined if the alert was inactive
 */
export function advance(
  before: AlertInstance | undefined,
  { key, rule }: Pick<AlertInstance, 'key' | 'rule'>,
  latest: RuleValue,
  evaluation: Evaluation,
): NextState {
  if (before !== undefined && before.state !== 'pending') return advanceFired(before, rule, latest, evaluation)
  const { now } = evaluation
  const { value, labels } = latest
  const { threshold } = withUsual(rule, latest.usual)
  if (!isSureBreach(latest) || !isBeyond(rule, value, threshold)) return { instance: undefined }
  const pending: AlertInstance = {
    key,
    labels,
    rule,
    state: 'pending',
    since: before?.since ?? now,
    credited: before === undefined ? 0 : before.credited + countedSince(before, evaluation),
    evaluatedAt: now,
    lastGaps: gapsAt(before, evaluation),
    ...measuredIn(latest),
    peak: before === undefined || isBeyond(rule, value, before.peak) ? value : before.peak,
  }
  if (!hasLasted(pending.credited, rule.for, evaluation)) return { instance: pending }
  return { instance: firing(pending, now), change: 'firing' }
}

/** Whether a value beyond the threshold begins an alert. */
const isSureBreach = ({ tooFew, mayBreach, isSure }: RuleValue) => !tooFew && mayBreach && isSure

export const measuredIn = ({ value, calls, counts, compared, usual }: Measured) => ({
  value,
  calls,
  counts,
  compared,
  usual,
})

/** The same for an alert that has fired and not ended. */
function advanceFired(before: AlertInstance, rule: Rule, latest: RuleValue, evaluation: Evaluation): NextState {
  const { value } = latest
  const isBreach = isBeyond(rule, value, withUsual(rule, latest.usual).clear)
  if (latest.tooFew || (isBreach && !latest.isComparable)) return withTooFewCalls(before, rule, evaluation)
  const { now } = evaluation
  // With another signal, the earlier peak does not count.
  const isSameSignal = isMeasured(firedBy(before.rule), rule)
  const peak = isSameSignal && !isBeyond(rule, value, before.peak) ? before.peak : value
  const values = addValue(isSameSignal ? (before.values ?? []) : [], [now, value], rule.breach)
  const times = {
    evaluatedAt: now,
    lastGaps: gapsAt(before, evaluation),
    tooFewSince: undefined,
    measuredAt: undefined,
  }
  const seen = { ...before, rule, ...measuredIn(latest), peak, values, ...times }
  return isBreach
    ? { instance: { ...seen, state: 'firing', credited: 0 } }
    : recover(before, { ...seen, state: 'recovering' }, evaluation)
}

function firing(pending: AlertInstance, now: number): AlertInstance {
  return {
    ...pending,
    state: 'firing',
    credited: 0,
    firingSince: now,
    fired: firedBy(withUsual(pending.rule, pending.usual)),
    values: [[now, pending.value]],
  }
}

/** The threshold at which an instance fired. If the rule has another signal now, the rule's current threshold. */
export function firedThreshold({ rule, fired, usual }: Pick<AlertInstance, 'rule' | 'fired' | 'usual'>): number {
  return fired !== undefined && isMeasured(fired, rule) ? fired.threshold : withUsual(rule, usual).threshold
}

function firedBy({ signal, breach, threshold }: Rule): Fired {
  return { signal: signal.name, relativeTo: relativeTo(signal), breach, threshold }
}

/** Whether a rule now measures what it measured when it fired. */
function isMeasured(fired: Fired, { signal, breach }: Rule): boolean {
  return fired.signal === signal.name && fired.relativeTo === relativeTo(signal) && fired.breach === breach
}

/** Resolves the alert once the value has been cleared for `keep_firing_for`. */
function recover(before: AlertInstance, seen: AlertInstance, evaluation: Evaluation): NextState {
  const lasted = before.state === 'recovering' ? before.credited + countedSince(before, evaluation) : 0
  if (hasLasted(lasted, seen.rule.keepFiringFor, evaluation)) return { instance: undefined, change: 'resolved' }
  return { instance: { ...seen, credited: lasted } }
}

/** Too few calls do not resolve an alert. It stays as it was for one window of polled time, then it expires. */
function withTooFewCalls(before: AlertInstance, rule: Rule, evaluation: Evaluation): NextState {
  const { now } = evaluation
  const notCounted = now - before.evaluatedAt - countedSince(before, evaluation)
  const tooFewSince = before.tooFewSince === undefined ? now : before.tooFewSince + notCounted
  if (now - tooFewSince >= (windowOf(rule.signal) ?? 0)) return { instance: undefined, change: 'expired' }
  const values = addValue(before.values ?? [], [now, null], rule.breach)
  const { signal, breach, threshold, clear } = before.rule
  // It keeps its value, so it keeps what that is of.
  const kept = isMeasured(firedBy(before.rule), rule) ? rule : { ...rule, signal, breach, threshold, clear }
  const times = { evaluatedAt: now, lastGaps: gapsAt(before, evaluation), tooFewSince }
  return { instance: { ...before, rule: kept, ...times, measuredAt: before.measuredAt ?? before.evaluatedAt, values } }
}

/** Rounds to the nearest evaluation: the duration of polls varies, and must not delay an alert by a whole interval. */
function hasLasted(credited: number, needed: number, { interval }: Evaluation): boolean {
  return needed === 0 || (credited > 0 && credited >= needed - interval / 2)
}

/**
 * Seconds since the last evaluation; 0 if the gap is too long to assume that the breach lasted: if its target is stale after it, and it is
 * longer than three times the smaller of the two gaps before it. One earlier gap is not enough to compare with, because it may be an
 * outage itself.
 */
function countedSince({ evaluatedAt, lastGaps: [first = 0, second = 0] = [] }: AlertInstance, at: Evaluation): number {
  const gap = at.now - evaluatedAt
  return gap > 0 && gap <= STALE_INTERVALS * Math.max(at.interval, Math.min(first, second)) ? gap : 0
}

/** The last two gaps, including the one that this evaluation ends. */
function gapsAt(before: AlertInstance | undefined, { now, sincePoll }: Evaluation): number[] {
  if (before === undefined) return sincePoll === undefined ? [] : [sincePoll]
  return [...(before.lastGaps ?? []).slice(-1), now - before.evaluatedAt]
}
