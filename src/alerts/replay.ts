import { keptFinishes, type FinishedCalls } from '../ledger/finished-calls.ts'
import type { Finish } from '../ledger/tracked-call.ts'
import type { AlertInstance } from './alert-instance.ts'
import { definitionOf } from './definition-of.ts'
import { evaluate } from './evaluate.ts'
import type { Notification } from './notification.ts'
import type { Rule } from './rule.ts'
import type { Evaluated, MonthOf, Trigger } from './trigger.ts'

/** Whether the history holds all that a rule is evaluated on; it does not keep what was open, and how many minutes were used. */
export function isReplayable({ signal }: Rule): boolean {
  return definitionOf(signal).isReplayable
}

export type History = {
  /** The oldest first. */
  evaluations: readonly Evaluated[]
  /** All calls that finished since the earliest window. */
  finishes: readonly Finish[]
}

export type ReplayOptions = { target: string; rules: readonly Rule[]; interval: number; monthOf: MonthOf }

/** Seconds by which a time may be off for having been kept in whole milliseconds. */
const ROUNDING = 0.0006

/**
 * Evaluates rules over a history as the daemon would have: at the same moments, by what it knew then, with the very same
 * code.
 *
 * @returns all notifications that there would have been, the oldest first, and what fires still
 */
export function replay(
  { evaluations, finishes }: History,
  { rules, ...options }: ReplayOptions,
): { notifications: Notification[]; instances: AlertInstance[] } {
  const replayable = rules.filter(isReplayable)
  const instances = new Map<string, AlertInstance>()
  const notifications: Notification[] = []
  const byTime = finishes.toSorted((a, b) => a.knownHostTime - b.knownHostTime)
  const finished = keptFinishes()
  let next = 0
  for (const evaluated of evaluations) {
    for (; next < byTime.length && byTime[next]!.knownHostTime <= evaluated.at + ROUNDING; next++) {
      finished.add(byTime[next]!)
    }
    const delta = evaluate(instances, triggerOf(evaluated, finished), {
      ...options,
      rules: replayable,
      now: evaluated.at,
    })
    for (const instance of delta.changed) instances.set(instance.key, instance)
    for (const { key } of delta.ended) instances.delete(key)
    notifications.push(...delta.notifications)
  }
  return { notifications, instances: [...instances.values()] }
}

function triggerOf(evaluated: Evaluated, finished: FinishedCalls): Trigger {
  return evaluated.kind === 'tick' ? evaluated : { ...evaluated, finished, open: [], created: 0, usedSince: () => 0 }
}
