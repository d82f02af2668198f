import { keptFinishes, type FinishedCalls } from '../ledger/finished-calls.ts'
import type { Finish } from '../ledger/tracked-call.ts'
import type { AlertInstance } from './alert-instance.ts'
import { evaluate } from './evaluate.ts'
import type { Evaluated } from './evaluated.ts'
import type { Notification } from './notification.ts'
import type { MonthOf, Occasion } from './reading.ts'
import type { Rule, SignalName } from './rule.ts'

/** Signals of which the history does not keep enough: what was open at a moment, and the minutes used until then. */
const NOT_KEPT: readonly SignalName[] = ['in_progress', 'stuck_calls', 'calls_started', 'budget_minutes']

/** Whether the history holds all that a rule goes by. */
export function isReplayable({ signal }: Rule): boolean {
  return !NOT_KEPT.includes(signal.name)
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
 * Judges rules over a history as the daemon would have: at the same moments, by what it knew then, with the very same
 * code.
 *
 * @returns all that would have been said, the oldest first, and what fires still
 */
export function replay(
  { evaluations, finishes }: History,
  { rules, ...options }: ReplayOptions,
): { said: Notification[]; instances: AlertInstance[] } {
  const replayable = rules.filter(isReplayable)
  const instances = new Map<string, AlertInstance>()
  const said: Notification[] = []
  const bySeen = finishes.toSorted((a, b) => a.seen - b.seen)
  const finished = keptFinishes()
  let next = 0
  for (const evaluated of evaluations) {
    for (; next < bySeen.length && bySeen[next]!.seen <= evaluated.at + ROUNDING; next++) {
      finished.add(bySeen[next]!)
    }
    const occasion = occasionOf(evaluated, finished)
    const delta = evaluate(instances, occasion, { ...options, rules: replayable, now: evaluated.at })
    for (const instance of delta.changed) instances.set(instance.key, instance)
    for (const { key } of delta.ended) instances.delete(key)
    said.push(...delta.notifications)
  }
  return { said, instances: [...instances.values()] }
}

function occasionOf(evaluated: Evaluated, finished: FinishedCalls): Occasion {
  if (evaluated.kind === 'tick') return evaluated
  const { now, previousGood, limited } = evaluated
  return { kind: 'look', judged: { now, previousGood }, limited, finished, open: [], created: 0, usedSince: () => 0 }
}
