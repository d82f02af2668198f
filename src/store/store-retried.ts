import { retry, throwError, timer, type MonoTypeOperatorFunction } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { StoreError } from '../store/store.ts'

/** Seconds. */
const PAUSE = 1

/** Asks a store that cannot be used for the moment again and again, unless it says one of `but`. */
export function storeRetried<T>(clock: Clock, but: readonly StoreError['kind'][] = []): MonoTypeOperatorFunction<T> {
  return retry({
    delay: (error) =>
      error instanceof StoreError && !but.includes(error.kind)
        ? timer(PAUSE * 1000, clock.scheduler)
        : throwError(() => error),
  })
}
