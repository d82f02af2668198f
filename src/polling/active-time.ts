import { EMPTY, expand, filter, take, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** A timer may fire slightly early (seconds). */
const TOLERANCE_SECONDS = 1e-6

/** The duration of a poll, without the time in which its requests waited for the rate limiter. */
export function activeTime(rateLimiter: RateLimiter, clock: Clock) {
  const startedAt = clock.monotonic()
  let waited = 0
  let waiting = 0
  let waitingSince = 0
  let isBegun = false
  const waitedUntilNow = () => waited + (waiting === 0 ? 0 : clock.monotonic() - waitingSince)
  const elapsed = () => clock.monotonic() - startedAt - waitedUntilNow()
  return {
    /** A rate limiter whose waits are left out of the duration. */
    rateLimiter: {
      ...rateLimiter,
      take: async (signal: AbortSignal) => {
        if (waiting === 0) waitingSince = clock.monotonic()
        waiting += 1
        try {
          await rateLimiter.take(signal, isBegun)
          isBegun = true
        } finally {
          waiting -= 1
          if (waiting === 0) waited += clock.monotonic() - waitingSince
        }
      },
    },
    /** The duration so far (seconds). */
    elapsed,
    /**
     * Emits once, when this much time has elapsed. If a rate limit pause lasts longer than this, it emits after this much time
     * by the clock.
     */
    after$: (seconds: number): Observable<unknown> => {
      const left = () => seconds - elapsed()
      const hasEnded = () => left() <= TOLERANCE_SECONDS || rateLimiter.pausedFor() > seconds
      return timer(left() * 1000, clock.scheduler).pipe(
        // No active time elapses while requests wait, so this checks again after the remaining time.
        expand(() => (hasEnded() ? EMPTY : timer(left() * 1000, clock.scheduler))),
        filter(hasEnded),
        take(1),
      )
    },
  }
}
