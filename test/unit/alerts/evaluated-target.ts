import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import { evaluate, type AlertDelta } from '../../../src/alerts/evaluate.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import type { Poll, Trigger } from '../../../src/alerts/trigger.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { FINAL_STATUSES, type FinalStatus } from '../../../src/ledger/call.ts'
import { keptFinishes, type FinishedCall } from '../../../src/ledger/finished-calls.ts'
import type { Finish } from '../../../src/ledger/tracked-call.ts'
import { finishAt, RATIO } from '../../kit/alerts/sample-rules.ts'

export const START = 1_790_000_000
/** Seconds between two evaluations, as they should come. */
export const INTERVAL = 15
/** So many seconds after the start. */
export const at = (seconds: number) => START + seconds

/** Calls that finished at a moment (UNIX seconds), so many of each status. */
export function finishedAt(at: number, numbers: Partial<Record<FinalStatus, number>>): Finish[] {
  const statuses = [...FINAL_STATUSES, 'other'] as const
  return statuses.flatMap((status) => Array.from({ length: numbers[status] ?? 0 }, () => finishAt(at, status)))
}

/** A successful poll at `now` after which so many of `total` calls in the window had failed. */
export function poll(now: number, failed: number, total: number): Poll {
  return pollAt(now, { finished: finishedAt(now, { rejected: failed, ended: total - failed }) })
}

/** What a poll has come to; finished calls in any order. */
export type PartOfPoll = Partial<Omit<Poll, 'finished'>> & {
  readonly finished?: readonly FinishedCall[]
  /** Those of them that have a recording. */
  readonly recorded?: readonly FinishedCall[]
}

/** A successful poll that has come to just this. */
export function pollAt(now: number, { finished = [], recorded = [], ...differing }: PartOfPoll): Poll {
  const kept = keptFinishes(finished)
  for (const finish of recorded) {
    kept.remove(finish)
    kept.add(finish, true)
  }
  return {
    kind: 'poll',
    now,
    previousSuccess: undefined,
    limited: false,
    finished: kept,
    earlier: { finished: kept, periods: [], gaps: [] },
    usual: [],
    open: [],
    knownFrom: 0,
    created: 0,
    usedSince: () => 0,
    ...differing,
  }
}

/** An instance as a restarted daemon finds it in the store. */
export function stored(instance: AlertInstance): AlertInstance {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is what was written
  return JSON.parse(JSON.stringify(instance)) as AlertInstance
}

/** A target whose rules are evaluated on one trigger after the other, as if each was committed. */
export function evaluatedTarget(rules: readonly Rule[]) {
  const instances = new Map<string, AlertInstance>()
  let current = rules
  return {
    instances,
    /** All notifications, the oldest first. */
    notifications: [] as Notification[],
    /** Continues with what was stored, as after a kill -9. */
    restart(): void {
      for (const [key, instance] of instances) instances.set(key, stored(instance))
    },
    reload: (reloaded: readonly Rule[]) => void (current = reloaded),
    evaluate(trigger: Trigger, now: number): AlertDelta {
      const delta = evaluate(instances, trigger, {
        target: 'production',
        rules: current,
        now,
        interval: INTERVAL,
      })
      for (const instance of delta.changed) instances.set(instance.key, instance)
      for (const { key } of delta.ended) instances.delete(key)
      this.notifications.push(...delta.notifications)
      return delta
    },
    poll(now: number, failed: number, total = 20, previousSuccess?: number): AlertDelta {
      return this.evaluate({ ...poll(now, failed, total), previousSuccess }, now)
    },
    tick(now: number, pollAge: number): AlertDelta {
      return this.evaluate({ kind: 'tick', pollAge }, now)
    },
    state: (name = RATIO.name) => instances.get(name)?.state ?? 'inactive',
    kinds(): string[] {
      return this.notifications.map(({ kind }) => kind)
    },
  }
}
