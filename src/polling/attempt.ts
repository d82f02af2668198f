import {
  catchError,
  concatMap,
  defer,
  retry,
  tap,
  throwError,
  timeout,
  TimeoutError,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { isRetryable, requestCode, ServiceError } from '../service/service-error.ts'
import { abortable } from './abortable.ts'
import type { RateBudget } from './rate-budget.ts'

export type Operation = 'list_calls' | 'get_call'

/** One request as it went: `code` is its HTTP status, or timeout, network, invalid. */
export type RequestRecord = { operation: Operation; code: string; seconds: number }

export type AttemptOptions = {
  clock: Clock
  budget: RateBudget
  /** For one request, its whole body included (seconds). */
  timeout: number
  /** How often a request that may succeed yet is made again. */
  retries: number
  /** From 0 to 1, for the jitter. */
  random: () => number
  onRequest: (record: RequestRecord) => void
}

const FIRST_DELAY = 0.5
const LONGEST_DELAY = 30

/**
 * One request to the service: when the budget grants it, within its time-out, and again where that may help. Waits
 * between attempts grow exponentially with full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter",
 * 2015), unless the service said how long: then the budget holds back every request of the key.
 *
 * @returns emits the one answer, or errors with a {@link ServiceError}, or as it is with what is none: a mistake of our own;
 *   unsubscribing aborts
 */
export function attempt<T>(
  operation: Operation,
  request: (signal: AbortSignal) => Promise<T>,
  { clock, budget, timeout: limit, retries, random, onRequest }: AttemptOptions,
): Observable<T> {
  const once$ = defer(() => {
    const begun = clock.monotonic()
    const done = (code: string) => onRequest({ operation, code, seconds: clock.monotonic() - begun })
    return abortable(request).pipe(
      timeout({ first: limit * 1000, scheduler: clock.scheduler }),
      catchError((error: unknown) => throwError(() => timedOut(error, limit))),
      tap({
        next: () => done('200'),
        error: (error: unknown) => {
          if (!(error instanceof ServiceError)) return
          done(requestCode(error))
          if (isRetryable(error) && error.retryAfter !== undefined) budget.holdBack(error.retryAfter)
        },
      }),
    )
  })
  return abortable((signal) => budget.take(signal)).pipe(
    concatMap(() => once$),
    retry({
      count: retries,
      delay: (error: unknown, attempts) => {
        if (!(error instanceof ServiceError) || !isRetryable(error)) return throwError(() => error)
        // The budget holds it back for as long as the service asked.
        if (error.retryAfter !== undefined) return timer(0, clock.scheduler)
        const longest = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempts - 1))
        return timer(random() * longest * 1000, clock.scheduler)
      },
    }),
  )
}

function timedOut(error: unknown, limit: number): unknown {
  if (!(error instanceof TimeoutError)) return error
  return new ServiceError('timeout', `the service did not answer in full within ${limit} s`)
}
