import type { PollReport } from '../polling/poll-report.ts'
import type { Committed } from '../pipeline/commit.ts'
import type { OperationalMetrics } from './operational-metrics.ts'

/** Label values that exist from the start of a target, so that `rate()` sees the first increment. */
const OUTCOMES = ['complete', 'incremental', 'partial', 'failed', 'skipped']
const OPERATIONS = ['list_calls', 'get_call']
const DELIVERED = ['sent', 'retried', 'dropped']
const WEBHOOK_OUTCOMES = ['delivered', 'retried', 'dead', 'expired', 'gap']
/** The codes of the usual answers; other codes appear with their first use. */
const CODES = ['200', 'timeout', 'network', 'invalid']

/** Initializes the series of a target with 0. */
export function initTarget(metrics: OperationalMetrics, target: string): void {
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

/** Initializes the series of a receiver with 0. */
export function initReceiver(metrics: OperationalMetrics, receiver: string): void {
  for (const outcome of DELIVERED) metrics.notifications.inc({ receiver, outcome }, 0)
  metrics.notificationsPending.set({ receiver }, 0)
}

/** Initializes the series of a webhook of events with 0. */
export function initWebhook(metrics: OperationalMetrics, webhook: string): void {
  for (const outcome of WEBHOOK_OUTCOMES) metrics.webhookDeliveries.inc({ webhook, outcome }, 0)
}

/** Removes the series of a webhook that was removed. */
export function removeWebhook(metrics: OperationalMetrics, webhook: string): void {
  for (const outcome of WEBHOOK_OUTCOMES) metrics.webhookDeliveries.remove({ webhook, outcome })
  for (const gauge of webhookGauges(metrics)) gauge.remove({ webhook })
}

function webhookGauges({
  webhookPending,
  webhookOldestPending,
  webhookDeadLetters,
  webhookPaused,
}: OperationalMetrics) {
  return [webhookPending, webhookOldestPending, webhookDeadLetters, webhookPaused]
}

/**
 * Removes the series of a target that was removed. It names each label set, because a search through the series of
 * thousands of targets would be slow.
 *
 * @param codes the codes of its requests, beside those that each target has from the start
 */
export function removeTarget(metrics: OperationalMetrics, target: string, codes: Iterable<string>): void {
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

/** Removes the series of a receiver that was removed. */
export function removeReceiver(metrics: OperationalMetrics, receiver: string): void {
  for (const outcome of DELIVERED) metrics.notifications.remove({ receiver, outcome })
  metrics.notificationsPending.remove({ receiver })
}

/** Records a poll that was due while the previous one was running. */
export function recordSkipped(metrics: OperationalMetrics, target: string): void {
  metrics.polls.inc({ target, outcome: 'skipped' })
}

/** Records a bug in callwatch that interrupted a target. */
export function recordInternalError(metrics: OperationalMetrics, target: string): void {
  metrics.up.set({ target }, 0)
  metrics.internalErrors.inc({ target })
}

/** Records a poll that has ended, successful or not. */
export function recordPoll(
  metrics: OperationalMetrics,
  target: string,
  poll: Pick<PollReport, 'successful' | 'outcome' | 'seconds' | 'requests' | 'remaining' | 'storeFailed'>,
): void {
  metrics.up.set({ target }, poll.successful ? 1 : 0)
  metrics.polls.inc({ target, outcome: poll.outcome })
  metrics.pollDuration.observe({ target }, poll.seconds)
  for (const { operation, code, seconds } of poll.requests) {
    metrics.requests.inc({ target, operation, code })
    metrics.requestDuration.observe({ target, operation }, seconds)
  }
  if (poll.remaining !== undefined) metrics.rateLimitRemaining.set({ target }, poll.remaining)
  if (poll.storeFailed) metrics.storeWritable.set(0)
}

/** Records a commit that has succeeded. */
export function recordCommit(metrics: OperationalMetrics, { target, ledger, seconds }: Committed): void {
  metrics.storeWritable.set(1)
  metrics.commitDuration.observe(seconds)
  const finishes = new Set(ledger.finishes)
  for (const { finish, endedAt } of ledger.calls.values()) {
    if (finish === undefined || endedAt === undefined || !finishes.has(finish)) continue
    metrics.detectionLag.observe({ target }, Math.max(0, finish.known - endedAt))
  }
}

/** Records an attempt to deliver a message. */
export function recordDelivery(
  metrics: OperationalMetrics,
  { receiver, outcome }: { receiver: string; outcome: string },
): void {
  metrics.notifications.inc({ receiver, outcome })
}
