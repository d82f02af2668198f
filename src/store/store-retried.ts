import { retry, throwError, timer, type MonoTypeOperatorFunction } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { StoreError } from './store-error.ts'

/** Seconds. */
const RETRY_SECONDS = 1

/** Retries every second while the store cannot be used; errors of the kinds `but` are not retried. */
export function storeRetried<T>(clock: Clock, but: readonly StoreError['kind'][] = []): MonoTypeOperatorFunction<T> {
  return retry({
    delay: (error) =>
      error instanceof StoreError && !but.includes(error.kind)
        ? timer(RETRY_SECONDS * 1000, clock.scheduler)
        : throwError(() => error),
  })
}
