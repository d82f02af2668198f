import { PAST_FAILURE_INTERVALS } from '../clock/intervals.ts'
import { advance, measuredIn, type AlertInstance, type Evidence, type NextState } from './alert-instance.ts'
import { notificationOf, type Notification } from './notification.ts'
import { evidenceOf } from './evidence.ts'
import { isOf } from './groups.ts'
import type { Rule } from './rule.ts'
import { couldBreach, ruleValues, worstOf, type RuleValue, type WorstValue } from './rule-value.ts'
import { windowOf, type Change } from './signal.ts'
import { wrongShare, type Tick, type Trigger } from './trigger.ts'

/** The changes of an evaluation: new states of instances, instances that became inactive, and notifications. */
export type AlertDelta = {
  changed: AlertInstance[]
  ended: AlertInstance[]
  notifications: Notification[]
}

/** The worst value of each rule that was evaluated, among those that could be a breach; undefined without any. */
export type WorstValues = ReadonlyMap<Rule, WorstValue | undefined>

/** The codes of failed requests that are no status (service/service-error.ts). */
const ERRORS: Readonly<Record<string, string>> = {
  timeout: 'did not answer in time',
  network: 'could not be reached',
  invalid: 'answered what is no JSON',
}

/** Requests that failed are past after some intervals, but not before so long. */
const MIN_PAST_FAILURE_SECONDS = 30

export type EvaluateOptions = {
  target: string
  rules: readonly Rule[]
  /** The host's clock (UNIX seconds). */
  now: number
  /** The intended time between two evaluations (seconds). */
  interval: number
}

/**
 * Evaluates all rules of a target on one trigger. Pure. A rule for which the trigger has no data keeps its state. Alerts of a removed rule expire.
 *
 * @param instances by their keys
 */
export function evaluate(
  instances: ReadonlyMap<string, AlertInstance>,
  trigger: Trigger,
  { target, rules, now, interval }: EvaluateOptions,
): AlertDelta & { worst: WorstValues } {
  const delta: AlertDelta = { changed: [], ended: [], notifications: [] }
  const worst = new Map<Rule, WorstValue | undefined>()
  const evaluated = new Set<string>()
  const evaluation = { now, interval, sincePoll: sincePrevious(trigger) }
  for (const rule of rules) {
    const known = [...instances.values()].filter((instance) => isOf(rule, instance))
    const groups = known.map(({ labels }) => labels)
    const values = ruleValues(rule, trigger, groups)
    for (const key of values?.keys() ?? known.map((one) => one.key)) evaluated.add(key)
    if (values === undefined) continue
    worst.set(rule, worstOf(rule, values.values().filter(couldBreach)))
    for (const [key, latest] of values) {
      const before = instances.get(key)
      record(rule, before, advance(before, { key, rule }, latest, evaluation), latest)
    }
  }
  for (const orphan of instances.values()) {
    if (evaluated.has(orphan.key)) continue
    const isThere = rules.some(({ name }) => name === orphan.rule.name)
    delta.ended.push(orphan)
    delta.notifications.push(...expiredNotifications(target, [orphan], isThere ? 'rule changed' : 'rule removed', now))
  }
  return { ...delta, worst }

  /** Records the next state of an instance; `latest` is the value that led to it. */
  function record(rule: Rule, before: AlertInstance | undefined, next: NextState, latest: Measured): void {
    const { instance, change } = next
    if (instance === before) return
    const evidence = isResult(instance) ? evidenceOn(rule, latest) : instance?.evidence
    if (instance !== undefined) delta.changed.push(withEvidence(instance, evidence))
    else if (before !== undefined) delta.ended.push(endedBy(before, latest))
    const notified = instance ?? (before && lastOf(before, change, rule))
    if (change === undefined || notified === undefined) return
    const kind = change === 'expired' ? ({ kind: change, expiredBecause: 'too few calls' } as const) : { kind: change }
    const shown = shownInstance(notified, change, evidence, latest)
    delta.notifications.push(notificationOf(kind, { target, instance: shown }, now))
  }

  function evidenceOn(rule: Rule, latest: Pick<AlertInstance, 'value' | 'labels'>): Evidence {
    if (trigger.kind === 'poll') return evidenceOf(rule, latest, trigger)
    const { cause, lastPoll } = trigger
    const { name } = rule.signal
    if (name === 'request_errors') return { isQuiet: isQuiet(trigger, interval), cause: errorText(trigger, rule) }
    return name === 'poll_age' ? { cause, lastPoll } : {}
  }
}

/** Whether requests were answered for a while and none failed. */
function isQuiet(tick: Tick, interval: number): boolean {
  const seconds = Math.max(MIN_PAST_FAILURE_SECONDS, PAST_FAILURE_INTERVALS * interval)
  return wrongShare(tick, 1, seconds) === 0
}

/** Why most requests of the window failed. */
function errorText({ recent }: Tick, { signal }: Rule): string | undefined {
  const code = recent?.requests(windowOf(signal) ?? 0).code
  return code && `the calls service ${ERRORS[code] ?? `answered ${code}`}`
}

type Measured = Pick<RuleValue, 'value' | 'calls' | 'counts' | 'compared' | 'usual' | 'labels'>

/** Whether a value is a result that explains the state of an alert. */
function isResult(instance: AlertInstance | undefined): boolean {
  return instance?.tooFewSince === undefined && instance?.state !== 'pending'
}

/** An instance that became inactive. One that expired keeps its value, so it keeps what that is of. */
const lastOf = (before: AlertInstance, change: Change | undefined, rule: Rule) =>
  change === 'expired' ? before : { ...before, rule }

/** An instance as the notification of its change shows it. */
function shownInstance(
  instance: AlertInstance,
  change: Change,
  evidence: Evidence | undefined,
  latest: Measured,
): AlertInstance {
  // An instance keeps the last result, and too few calls give none. A resolved alert is shown with its latest value.
  const measured = change === 'resolved' ? { ...measuredIn(latest), measuredAt: undefined } : {}
  return { ...instance, ...measured, evidence: evidence ?? {} }
}

/** An instance that ended, a pending one with the value that ended it. */
function endedBy(before: AlertInstance, latest: Measured = before): AlertInstance {
  return before.state === 'pending' ? { ...before, ...measuredIn(latest) } : before
}

function withEvidence(instance: AlertInstance, evidence: Evidence | undefined): AlertInstance {
  if (evidence === undefined) return instance
  const measuredFrom = instance.measuredFrom ?? evidence.window?.from
  return { ...instance, evidence, ...(measuredFrom !== undefined && { measuredFrom }) }
}

/** The notifications of alerts that callwatch no longer evaluates. Firing ones expire; they do not resolve. */
export function expiredNotifications(
  target: string,
  instances: readonly AlertInstance[],
  expiredBecause: NonNullable<Notification['expiredBecause']>,
  now: number,
): Notification[] {
  return instances
    .filter(({ state }) => state !== 'pending')
    .map((instance) => ({ target, instance: { ...instance, evidence: {} } }))
    .map((live) => notificationOf({ kind: 'expired', expiredBecause }, live, now))
}

/** Seconds between a successful poll and the one before it. */
function sincePrevious(trigger: Trigger): number | undefined {
  if (trigger.kind === 'tick' || trigger.previousSuccess === undefined) return undefined
  return trigger.now - trigger.previousSuccess
}
