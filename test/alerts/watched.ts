import type { AlertInstance } from '../../src/alerts/alert-instance.ts'
import { evaluate, type AlertDelta } from '../../src/alerts/evaluate.ts'
import type { Notification } from '../../src/alerts/notification.ts'
import type { Occasion } from '../../src/alerts/reading.ts'
import type { FailureRatioRule, PollAgeRule, Rule } from '../../src/alerts/rule.ts'
import { FINAL_STATUSES, labelsOf, type FinalStatus } from '../../src/ledger/call.ts'
import type { FinishedCalls } from '../../src/ledger/finished-calls.ts'

export const START = 1_790_000_000
/** Seconds between two evaluations, as they should come. */
export const INTERVAL = 15

export const RATIO: FailureRatioRule = {
  name: 'HighFailureRate',
  signal: 'failure_ratio',
  reason: 'any',
  window: 900,
  above: 0.3,
  clear: 0.2,
  minCalls: 20,
  for: 0,
  severity: 'warning',
}

export const POLL_AGE: PollAgeRule = {
  name: 'NoGoodPoll',
  signal: 'poll_age',
  above: 300,
  clear: 300,
  for: 0,
  severity: 'critical',
}

/** Calls that finished at a moment (UNIX seconds), so many of each status. */
export function finishedAt(at: number, numbers: Partial<Record<FinalStatus, number>>): FinishedCalls {
  const labels = labelsOf('audio', 'call', 'user')
  const statuses = [...FINAL_STATUSES, 'other'] as const
  return statuses.flatMap((status) =>
    Array.from({ length: numbers[status] ?? 0 }, () => ({ status, labels, at, known: at })),
  )
}

/** A good look at `now` after which so many of `total` calls in the window had failed. */
export function look(now: number, failed: number, total: number): Occasion {
  const finished = finishedAt(now, { rejected: failed, ended: total - failed })
  return { kind: 'look', finished, judged: { now, previousGood: undefined }, pollAge: 0 }
}

/** A target whose rules are evaluated on one occasion after the other, as if each was committed. */
export function watched(rules: readonly Rule[]) {
  const instances = new Map<string, AlertInstance>()
  let current = rules
  return {
    instances,
    /** All that was to be said, the oldest first. */
    said: [] as Notification[],
    reload: (reloaded: readonly Rule[]) => void (current = reloaded),
    evaluate(occasion: Occasion, now: number): AlertDelta {
      const delta = evaluate(instances, occasion, { target: 'production', rules: current, now, interval: INTERVAL })
      for (const instance of delta.changed) instances.set(instance.rule.name, instance)
      for (const { rule } of delta.ended) instances.delete(rule.name)
      this.said.push(...delta.notifications)
      return delta
    },
    look(now: number, failed: number, total = 20): AlertDelta {
      return this.evaluate(look(now, failed, total), now)
    },
    tick(now: number, pollAge: number): AlertDelta {
      return this.evaluate({ kind: 'tick', pollAge }, now)
    },
    state: (name = RATIO.name) => instances.get(name)?.state ?? 'inactive',
    kinds(): string[] {
      return this.said.map(({ kind }) => kind)
    },
  }
}
