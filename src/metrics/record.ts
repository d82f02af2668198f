import type { Committed } from '../store/keep-target.ts'
import type { OperationalMetrics } from './operational-metrics.ts'

/** Outcomes and requests that exist from a target's first moment, so that `rate()` misses no first one. */
const OUTCOMES = ['complete', 'incremental', 'partial', 'failed', 'skipped']
const OPERATIONS = ['list_calls', 'get_call']
const DELIVERED = ['sent', 'retried', 'dropped']
/** Those codes that do not depend on what the service makes up. */
const CODES = ['200', 'timeout', 'network', 'invalid']

/** A cycle as far as metrics tell of it. */
type Cycle = {
  outcome: string
  good: boolean
  seconds: number
  requests: readonly { operation: string; code: string; seconds: number }[]
  remaining: number | undefined
  storeFailed: boolean
}

/** Makes a target's series exist. */
export function introduceTarget(metrics: OperationalMetrics, target: string): void {
  metrics.up.set({ target }, 0)
  metrics.internalErrors.inc({ target }, 0)
  for (const outcome of OUTCOMES) metrics.polls.inc({ target, outcome }, 0)
  for (const operation of OPERATIONS) {
    for (const code of CODES) metrics.requests.inc({ target, operation, code }, 0)
    metrics.requestDuration.zero({ target, operation })
  }
  metrics.pollDuration.zero({ target })
  metrics.detectionLag.zero({ target })
}

/** Makes a notifier's series exist. */
export function introduceNotifier(metrics: OperationalMetrics, notifier: string): void {
  for (const outcome of DELIVERED) metrics.notifications.inc({ notifier, outcome }, 0)
  metrics.notificationsPending.set({ notifier }, 0)
}

/**
 * Ends every series of a target that is not exported any more, by their labels: to look for them among those of thousands
 * of targets would take longer each time than all the rest.
 *
 * @param codes what its requests have come to beside the codes that each target has from the start
 */
export function forgetTarget(metrics: OperationalMetrics, target: string, codes: Iterable<string>): void {
  for (const metric of [
    metrics.up,
    metrics.internalErrors,
    metrics.rateLimitRemaining,
    metrics.pollDuration,
    metrics.detectionLag,
  ]) {
    metric.remove({ target })
  }
  for (const outcome of OUTCOMES) metrics.polls.remove({ target, outcome })
  for (const operation of OPERATIONS) {
    for (const code of new Set([...CODES, ...codes])) metrics.requests.remove({ target, operation, code })
    metrics.requestDuration.remove({ target, operation })
  }
}

/** Ends every series of a notifier that is there no more. */
export function forgetNotifier(metrics: OperationalMetrics, notifier: string): void {
  for (const outcome of DELIVERED) metrics.notifications.remove({ notifier, outcome })
  metrics.notificationsPending.remove({ notifier })
}

/** A tick that fell into a running cycle. */
export function recordSkipped(metrics: OperationalMetrics, target: string): void {
  metrics.polls.inc({ target, outcome: 'skipped' })
}

/** A mistake of our own that ended the work on a target. */
export function recordInternalError(metrics: OperationalMetrics, target: string): void {
  metrics.up.set({ target }, 0)
  metrics.internalErrors.inc({ target })
}

/** A cycle that has ended, however it did. */
export function recordCycle(metrics: OperationalMetrics, target: string, cycle: Cycle): void {
  metrics.up.set({ target }, cycle.good ? 1 : 0)
  metrics.polls.inc({ target, outcome: cycle.outcome })
  metrics.pollDuration.observe({ target }, cycle.seconds)
  for (const { operation, code, seconds } of cycle.requests) {
    metrics.requests.inc({ target, operation, code })
    metrics.requestDuration.observe({ target, operation }, seconds)
  }
  if (cycle.remaining !== undefined) metrics.rateLimitRemaining.set({ target }, cycle.remaining)
  if (cycle.storeFailed) metrics.storeWritable.set(0)
}

/** A commit that has succeeded. */
export function recordCommit(metrics: OperationalMetrics, { target, ledger, seconds }: Committed): void {
  metrics.storeWritable.set(1)
  metrics.commitDuration.observe(seconds)
  const finishes = new Set(ledger.finishes)
  for (const { finish, endedAt } of ledger.calls.values()) {
    if (finish === undefined || endedAt === undefined || !finishes.has(finish)) continue
    metrics.detectionLag.observe({ target }, Math.max(0, finish.known - endedAt))
  }
}

/** An attempt to deliver a message. */
export function recordDelivery(
  metrics: OperationalMetrics,
  { notifier, outcome }: { notifier: string; outcome: string },
): void {
  metrics.notifications.inc({ notifier, outcome })
}
