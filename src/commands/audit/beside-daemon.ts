import { systemClock } from '../../clock/clock.ts'
import type { PollConfig } from '../../polling/poll-section.ts'
import { newRateLimiter, type RateLimiter } from '../../polling/rate-limiter.ts'
import { ServiceError } from '../../service/service-error.ts'

/** The share of `max_requests_per_minute` that a command may use in addition to a daemon. */
const RATE_SHARE = 1 / 4
/** The longest Retry-After for which a command waits (seconds). */
const MAX_WAIT_SECONDS = 60

/**
 * The rate limiter of a command that may run next to a daemon. It fails instead of waiting for long.
 *
 * @param pausedUntil when a pause that the service asked the daemon for ends (UNIX seconds), if it is known
 */
export function besideDaemon(poll: Pick<PollConfig, 'maxRequestsPerMinute'>, pausedUntil?: number): RateLimiter {
  const maxRequestsPerMinute = poll.maxRequestsPerMinute * RATE_SHARE
  const limits = { clock: systemClock, maxRequestsPerMinute, pausedUntil, onPause: () => undefined }
  const rateLimiter = newRateLimiter(limits)
  return {
    ...rateLimiter,
    take: async (signal) => {
      const seconds = rateLimiter.pausedFor()
      if (seconds <= MAX_WAIT_SECONDS) return rateLimiter.take(signal)
      const message = `the service asked to wait (Retry-After): no request for another ${Math.ceil(seconds)} s`
      throw new ServiceError('refused', message)
    },
  }
}
