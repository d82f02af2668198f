import { advance, type AlertInstance } from './alert-instance.ts'
import { notificationOf, type Notification } from './notification.ts'
import { read, type Occasion } from './reading.ts'
import type { Rule } from './rule.ts'

/** What an evaluation changes: new values of instances, those that became inactive, and what is to be said. */
export type AlertDelta = {
  changed: AlertInstance[]
  ended: AlertInstance[]
  notifications: Notification[]
}

export type EvaluateOptions = {
  target: string
  rules: readonly Rule[]
  /** The host's clock (UNIX seconds). */
  now: number
  /** Seconds between two evaluations, as they should come. */
  interval: number
}

/**
 * Judges all rules of a target on one occasion. Pure; a rule about which the occasion says nothing stays as it is, and
 * what a removed rule left behind is closed.
 */
export function evaluate(
  instances: ReadonlyMap<string, AlertInstance>,
  occasion: Occasion,
  { target, rules, now, interval }: EvaluateOptions,
): AlertDelta {
  const delta: AlertDelta = { changed: [], ended: [], notifications: [] }
  for (const rule of rules) {
    const before = instances.get(rule.name)
    const reading = read(rule, occasion)
    if (reading === undefined) continue
    const { instance, change } = advance(before, rule, reading, now, interval)
    if (instance !== undefined) delta.changed.push(instance)
    else if (before !== undefined) delta.ended.push(before)
    const speaking = instance ?? (before && { ...before, rule })
    if (change === undefined || speaking === undefined) continue
    const said = change === 'closed' ? ({ kind: change, closedBecause: 'too few calls' } as const) : { kind: change }
    const latest = change === 'closed' ? speaking : reading
    delta.notifications.push(notificationOf(said, target, speaking, latest, now))
  }
  for (const orphan of instances.values()) {
    if (rules.some(({ name }) => name === orphan.rule.name)) continue
    delta.ended.push(orphan)
    if (orphan.state !== 'firing') continue
    const said = { kind: 'closed', closedBecause: 'rule removed' } as const
    delta.notifications.push(notificationOf(said, target, orphan, orphan, now))
  }
  return delta
}
