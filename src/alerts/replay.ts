import { keptFinishes, type EarlierCalls, type FinishedCalls } from '../ledger/finished-calls.ts'
import { knownSince, type SyncState } from '../ledger/state.ts'
import type { Finish } from '../ledger/tracked-call.ts'
import type { AlertInstance } from './alert-instance.ts'
import { definitionOf } from './definition-of.ts'
import { evaluate } from './evaluate.ts'
import type { Notification } from './notification.ts'
import type { Rule } from './rule.ts'
import type { RuleValue } from './rule-value.ts'
import { isBeyond } from './signal.ts'
import type { EvaluationRecord, MonthOf, Trigger } from './trigger.ts'

/**
 * Whether the history holds all that a rule is evaluated on. It does not keep which calls were open, which minutes were
 * used, and since when a call has a recording.
 */
export function isReplayable({ signal }: Rule): boolean {
  return definitionOf(signal).isReplayable
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

export type ReplayOptions = { target: string; rules: readonly Rule[]; interval: number; monthOf: MonthOf }

/** The worst value among the rule's groups that could have been a breach, and when it was evaluated. */
export type EvaluatedValue = { at: number } & Pick<RuleValue, 'value' | 'calls' | 'labels'>

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
  for (const evaluated of evaluations) {
    for (; next < byTime.length && byTime[next]!.knownHostTime <= evaluated.at + ROUNDING_SECONDS; next++) {
      finished.add(byTime[next]!)
    }
    const delta = evaluate(instances, triggerOf(evaluated, { finished, ...known }), {
      ...options,
      rules: replayable,
      now: evaluated.at,
      onValues: (rule, latest) => {
        const worst = worstOf(rule, latest.values())
        if (worst !== undefined) values.get(rule.name)?.push({ at: evaluated.at, ...worst })
      },
    })
    for (const instance of delta.changed) instances.set(instance.key, instance)
    for (const { key } of delta.ended) instances.delete(key)
    notifications.push(...delta.notifications)
  }
  return { notifications, instances: [...instances.values()], values }
}

/** The worst value that could be a breach. It is not one with too few calls, or without calls to compare with. */
function worstOf(rule: Pick<Rule, 'breach'>, values: Iterable<RuleValue>): Omit<EvaluatedValue, 'at'> | undefined {
  let worst: RuleValue | undefined
  for (const one of values) {
    if (one.tooFew || !one.mayBreach || !Number.isFinite(one.value)) continue
    if (worst === undefined || isBeyond(rule, one.value, worst.value)) worst = one
  }
  return worst && { value: worst.value, calls: worst.calls, labels: worst.labels }
}

type Replayed = Pick<History, 'sync' | 'gaps'> & { finished: FinishedCalls }

function triggerOf(evaluated: EvaluationRecord, { finished, sync, gaps }: Replayed): Trigger {
  if (evaluated.kind === 'tick') return evaluated
  // Until it has ended, nobody knows how long a time without polls is.
  const ended = gaps.filter(({ to }) => to <= evaluated.now + ROUNDING_SECONDS)
  const earlier = { finished, periods: [], gaps: ended }
  const knownFrom = knownSince(sync, evaluated.now + ROUNDING_SECONDS)
  const { created } = sync
  return { ...evaluated, finished, earlier, open: [], created, knownFrom, usedSince: () => 0 }
}
