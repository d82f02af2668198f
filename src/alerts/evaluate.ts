import { advance, remind, type Advance, type AlertInstance } from './alert-instance.ts'
import { evidenceOf } from './evidence.ts'
import { isGroupOf } from './groups.ts'
import { notificationOf, type Notification } from './notification.ts'
import { read, type MonthOf, type Occasion } from './reading.ts'
import type { Rule } from './rule.ts'

/** What an evaluation changes: new values of instances, those that became inactive, and what is to be said. */
export type AlertDelta = {
  changed: AlertInstance[]
  ended: AlertInstance[]
  notifications: Notification[]
}

/** Without a judgement for more intervals than this, a reminder no longer waits for one. */
const UNSEEN_INTERVALS = 2

export type EvaluateOptions = {
  target: string
  rules: readonly Rule[]
  /** The host's clock (UNIX seconds). */
  now: number
  /** Seconds between two evaluations, as they should come. */
  interval: number
  monthOf: MonthOf
}

/**
 * Judges all rules of a target on one occasion. Pure; a rule about which the occasion says nothing stays as it is, but for
 * reminders, and what a removed rule left behind is closed.
 *
 * @param instances by their keys
 */
export function evaluate(
  instances: ReadonlyMap<string, AlertInstance>,
  occasion: Occasion,
  { target, rules, now, interval, monthOf }: EvaluateOptions,
): AlertDelta {
  const delta: AlertDelta = { changed: [], ended: [], notifications: [] }
  const settled = new Set<string>()
  for (const rule of rules) {
    const known = [...instances.values()].filter((instance) => isOf(rule, instance))
    for (const { key } of known) settled.add(key)
    const groups = known.map(({ labels }) => labels)
    const readings = read(rule, occasion, monthOf, groups)
    if (readings === undefined) {
      // A look, which knows more to say, is to come: only where none has for long is it left to the tick.
      const unseen = known.filter((instance) => isUnseen(instance, now, interval))
      for (const instance of unseen) settle(rule, instance, remind(instance, now))
      continue
    }
    for (const [key, reading] of readings) {
      const before = instances.get(key)
      settle(rule, before, advance(before, { key, rule }, reading, { now, interval }), reading)
    }
  }
  for (const orphan of instances.values()) {
    if (settled.has(orphan.key)) continue
    const isThere = rules.some(({ name }) => name === orphan.rule.name)
    delta.ended.push(orphan)
    delta.notifications.push(...closedNotifications(target, [orphan], isThere ? 'rule changed' : 'rule removed', now))
  }
  return delta

  /** Takes down what became of an instance; `latest` is what it was judged by. */
  function settle(
    rule: Rule,
    before: AlertInstance | undefined,
    { instance, change }: Advance,
    latest?: Pick<AlertInstance, 'value' | 'calls' | 'counts' | 'labels'>,
  ): void {
    if (instance === before) return
    if (instance !== undefined) delta.changed.push(instance)
    else if (before !== undefined) delta.ended.push(before)
    const speaking = instance ?? (before && { ...before, rule })
    if (change === undefined || speaking === undefined) return
    const said = change === 'closed' ? ({ kind: change, closedBecause: 'too few calls' } as const) : { kind: change }
    // An instance holds the last verdict, which a look at too few calls is not; one that resolved no longer is.
    const judgedBy = change === 'resolved' && latest !== undefined ? latest : speaking
    const isBlind = occasion.kind === 'tick' && rule.signal.name !== 'poll_age'
    const evidence =
      occasion.kind === 'look'
        ? evidenceOf(speaking.rule, judgedBy, occasion, monthOf)
        : isBlind
          ? { asOf: speaking.evaluatedAt }
          : {}
    delta.notifications.push(notificationOf(said, target, speaking, judgedBy, evidence, now))
  }
}

/** What is to be said when nobody judges these alerts any more: that those which fired are closed, not resolved. */
export function closedNotifications(
  target: string,
  instances: readonly AlertInstance[],
  closedBecause: NonNullable<Notification['closedBecause']>,
  now: number,
): Notification[] {
  return instances
    .filter(({ state }) => state !== 'pending')
    .map((instance) => notificationOf({ kind: 'closed', closedBecause }, target, instance, instance, {}, now))
}

/** Whether nobody has judged it for long, also by a clock that was set back since. */
function isUnseen({ evaluatedAt }: AlertInstance, now: number, interval: number): boolean {
  return now <= evaluatedAt || now - evaluatedAt > UNSEEN_INTERVALS * interval
}

function isOf(rule: Rule, { rule: { name }, labels }: AlertInstance): boolean {
  return name === rule.name && isGroupOf(rule, labels)
}
