import type { PollReport } from '../polling/poll-report.ts'
import { MARK } from '../ledger/tracked-call.ts'
import type { RequestRecord } from '../polling/request-with-retries.ts'
import type { Committed } from '../pipeline/commit.ts'
import type { OperationalMetrics } from './operational-metrics.ts'

/** Records a poll that has ended, successful or not. */
export function recordPoll(
  metrics: OperationalMetrics,
  target: string,
  poll: Pick<PollReport, 'successful' | 'outcome' | 'seconds' | 'requests' | 'remaining' | 'fault'>,
): void {
  metrics.up.set({ target }, poll.successful ? 1 : 0)
  metrics.polls.inc({ target, outcome: poll.outcome })
  metrics.pollDuration.observe({ target }, poll.seconds)
  recordRequests(metrics, target, poll.requests)
  if (poll.remaining !== undefined) metrics.rateLimitRemaining.set({ target }, poll.remaining)
  if (poll.fault === 'store') metrics.storeWritable.set(0)
}

/** Records requests to the calls service. */
export function recordRequests(metrics: OperationalMetrics, target: string, requests: readonly RequestRecord[]): void {
  for (const { operation, code, seconds } of requests) {
    metrics.requests.inc({ target, operation, code })
    metrics.requestDuration.observe({ target, operation }, seconds)
  }
}

/** Records a commit that has succeeded. */
export function recordCommit(metrics: OperationalMetrics, { target, ledger, seconds, ends }: Committed): void {
  metrics.storeWritable.set(1)
  metrics.commitDuration.observe(seconds)
  if (ends !== undefined) {
    // Also 0: `rate()` then sees the first increment.
    metrics.serviceWebhookEnds.inc({ target, announced: 'yes' }, ends.announced)
    metrics.serviceWebhookEnds.inc({ target, announced: 'no' }, ends.missed)
    for (const lag of ends.lags) metrics.serviceWebhookLag.observe({ target }, lag)
  }
  const finishes = new Set(ledger.finishes)
  for (const { finish, endedAt, marks } of ledger.calls.values()) {
    if (finish === undefined || endedAt === undefined || !finishes.has(finish)) continue
    if ((marks & MARK.overAtSetUp) !== 0) continue
    metrics.detectionLag.observe({ target }, Math.max(0, finish.known - endedAt))
  }
}
