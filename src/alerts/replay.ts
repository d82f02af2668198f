import { keptFinishes, type EarlierCalls, type FinishedCalls } from '../ledger/finished-calls.ts'
import { knownSince, type SyncState } from '../ledger/state.ts'
import { summedWith, type SummedCalls } from '../ledger/summed-calls.ts'
import type { Finish } from '../ledger/tracked-call.ts'
import type { AlertInstance } from './alert-instance.ts'
import { definitionOf } from './definition-of.ts'
import { evaluate } from './evaluate.ts'
import type { Notification } from './notification.ts'
import type { Rule } from './rule.ts'
import type { WorstValue } from './rule-value.ts'
import type { EvaluationRecord, Trigger } from './trigger.ts'
import { usualPeriods } from './usual.ts'

/**
 * Whether the history holds all that a rule is evaluated on. It does not keep which calls were open, which minutes were
 * used, and since when a call has a recording.
 */
export function isReplayable({ signal }: Rule): boolean {
  return definitionOf(signal).isReplayable === true
}

export type History = {
  /** Oldest first. */
  evaluations: readonly EvaluationRecord[]
  /** All calls that finished since the earliest window. */
  finishes: readonly Finish[]
  /** When the target was created, since when its calls are counted (UNIX seconds), and the times for which not all of them are known. */
  sync: Pick<SyncState, 'created' | 'past'>
  gaps: EarlierCalls['gaps']
}

export type ReplayOptions = { target: string; rules: readonly Rule[]; interval: number }

/** The worst value among the rule's groups that could have been a breach, and when it was evaluated. */
export type EvaluatedValue = { at: number } & WorstValue

/** Times are stored in whole milliseconds, so they may be off by this much (seconds). */
const ROUNDING_SECONDS = 0.0006

/**
 * Evaluates rules over a history as the daemon would have: at the same moments, with what it knew then, with the same code.
 *
 * @returns all notifications, oldest first; the alerts that still fire; and the values of each rule by its name
 */
export function replay(
  { evaluations, finishes, ...known }: History,
  { rules, ...options }: ReplayOptions,
): { notifications: Notification[]; instances: AlertInstance[]; values: Map<string, EvaluatedValue[]> } {
  const replayable = rules.filter(isReplayable)
  const values = new Map(replayable.map(({ name }): [string, EvaluatedValue[]] => [name, []]))
  const instances = new Map<string, AlertInstance>()
  const notifications: Notification[] = []
  const byTime = finishes.toSorted((a, b) => a.knownHostTime - b.knownHostTime)
  const finished = keptFinishes()
  let next = 0
  let usual: readonly SummedCalls[] = []
  for (const evaluated of evaluations) {
    const first = next
    for (; next < byTime.length && byTime[next]!.knownHostTime <= evaluated.at + ROUNDING_SECONDS; next++) {
      finished.add(byTime[next]!)
    }
    const summed = usual.map((one) => summedWith(one, byTime.slice(first, next)))
    usual = usualOf(replayable, evaluated, summed, () => byTime.slice(0, next))
    const delta = evaluate(instances, triggerOf(evaluated, { finished, usual, ...known }), {
      ...options,
      rules: replayable,
      now: evaluated.at,
    })
    for (const [rule, worst] of delta.worst) {
      if (worst === undefined) continue
      const { value, calls, usual, labels } = worst
      values.get(rule.name)?.push({ at: evaluated.at, value, calls, usual, labels })
    }
    for (const instance of delta.changed) instances.set(instance.key, instance)
    for (const { key } of delta.ended) instances.delete(key)
    notifications.push(...delta.notifications)
  }
  return { notifications, instances: [...instances.values()], values }
}

/** The calls of the times whose share is usual at an evaluation: those that are added up already, or of all that are known. */
function usualOf(
  rules: readonly Rule[],
  evaluated: EvaluationRecord,
  summed: readonly SummedCalls[],
  known: () => readonly Finish[],
): readonly SummedCalls[] {
  if (evaluated.kind === 'tick') return summed
  return usualPeriods(rules, evaluated).map(
    (period) => summed.find(({ to }) => to === period.to) ?? summedWith({ ...period, tallies: [] }, known()),
  )
}

type Replayed = Pick<History, 'sync' | 'gaps'> & { finished: FinishedCalls; usual: readonly SummedCalls[] }

function triggerOf(evaluated: EvaluationRecord, { finished, usual, sync, gaps }: Replayed): Trigger {
  if (evaluated.kind === 'tick') return evaluated
  // Until it has ended, nobody knows how long a time without polls is.
  const ended = gaps.filter(({ to }) => to <= evaluated.now + ROUNDING_SECONDS)
  const earlier = { finished, periods: [], gaps: ended }
  const knownFrom = knownSince(sync, evaluated.now + ROUNDING_SECONDS)
  const { created } = sync
  return { ...evaluated, finished, earlier, usual, open: [], created, knownFrom, usedSince: () => 0 }
}
