import { concatMap, defer, retry, tap, throwError, timeout, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { delayAfter } from '../clock/delay-after.ts'
import { isRetryable, requestCode, ServiceError } from '../service/service-error.ts'
import { abortable } from '../rx/abortable.ts'
import type { PollConfig } from './poll-section.ts'
import type { RateLimiter } from './rate-limiter.ts'

export type Operation = 'list_calls' | 'get_call'

/** A completed request. `code` is its HTTP status, or timeout, network, invalid. */
export type RequestRecord = { operation: Operation; code: string; seconds: number }

export type RequestOptions = Pick<PollConfig, 'timeout' | 'retries'> & {
  clock: Clock
  rateLimiter: RateLimiter
  /** A random number from 0 to 1, for the jitter. */
  random: () => number
  onRequest: (record: RequestRecord) => void
}

const FIRST_DELAY_SECONDS = 0.5
const MAX_DELAY_SECONDS = 30

/**
 * Sends one request to the service. It waits for the rate limiter, has a timeout, and is retried after a retryable error.
 * Delays between attempts grow exponentially with full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter",
 * 2015). If the service sends Retry-After, the rate limiter pauses all requests to its URL instead.
 *
 * @returns emits the one answer, or errors with a {@link ServiceError}. Any other error is a bug in callwatch. Unsubscribing
 *   aborts the request.
 */
export function requestWithRetries<T>(
  operation: Operation,
  request: (signal: AbortSignal) => Promise<T>,
  { clock, rateLimiter, timeout: limit, retries, random, onRequest }: RequestOptions,
): Observable<T> {
  const timedOut = () => new ServiceError('timeout', `the service did not answer in full within ${limit} s`)
  const attempt$ = defer(() => {
    const startedAt = clock.monotonic()
    const record = (code: string) => onRequest({ operation, code, seconds: clock.monotonic() - startedAt })
    return abortable(request).pipe(
      timeout({ first: limit * 1000, scheduler: clock.scheduler, with: () => throwError(timedOut) }),
      tap({
        next: () => record('200'),
        error: (error: unknown) => {
          if (!(error instanceof ServiceError)) return
          record(requestCode(error))
          if (isRetryable(error) && error.retryAfter !== undefined) rateLimiter.pause(error.retryAfter)
        },
      }),
    )
  })
  return abortable((signal) => rateLimiter.take(signal)).pipe(
    concatMap(() => attempt$),
    retry({
      count: retries,
      delay: (error: unknown, attempts) => {
        if (!(error instanceof ServiceError) || !isRetryable(error)) return throwError(() => error)
        // The rate limiter waits as long as Retry-After asks.
        if (error.retryAfter !== undefined) return timer(0, clock.scheduler)
        const longest = delayAfter(attempts, FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS)
        return timer(random() * longest * 1000, clock.scheduler)
      },
    }),
  )
}
