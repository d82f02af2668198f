import { type Clock, sleep } from '../clock/clock.ts'
import { oneByOne } from '../clock/one-by-one.ts'
import { serviceWindow } from './service-window.ts'

/** Grants requests to one app, one after the other. All targets of the app share it. */
export type RateLimiter = Omit<AdjustableRateLimiter, 'setLimit'>

/** A rate limiter whose limit can change. */
export type AdjustableRateLimiter = ReturnType<typeof newRateLimiter>

/** Grants every request at once. */
export const UNLIMITED: AdjustableRateLimiter = {
  take: async () => undefined,
  pause: () => undefined,
  pausedFor: () => 0,
  hasSpare: () => true,
  note: () => undefined,
  pace: () => ({ perMinute: Infinity, isSlowed: false }),
  setLimit: () => undefined,
}

export type RateLimiterOptions = {
  clock: Clock
  maxRequestsPerMinute: number
  /** When a pause from before a restart ends (UNIX seconds by the host's clock). */
  pausedUntil: number | undefined
  /** Called with the end of each pause (UNIX seconds by the host's clock), so that it can survive a restart. */
  onPause: (until: number) => void
}

const MAX_SLEEP_SECONDS = 1

/** The longest pause. If the service asked for more, one request then checks whether it still refuses. */
const MAX_PAUSE_SECONDS = 3600
/** How long all other requests wait for the answer to that request. */
const CHECK_SECONDS = 10
/** Clocks of hosts that share a store differ by less than this. */
const CLOCK_TOLERANCE_SECONDS = 60

/**
 * Seconds left of a stored pause, by the host's clock. A pause that would exceed the longest one was stored while the host's
 * clock was ahead. It is ignored, and the service says again how long to wait.
 *
 * @param until UNIX seconds
 */
export function leftOfPause(until: number | undefined, clock: Clock): number {
  const left = (until ?? 0) - clock.wall()
  return left > MAX_PAUSE_SECONDS + CLOCK_TOLERANCE_SECONDS ? 0 : Math.min(Math.max(0, left), MAX_PAUSE_SECONDS)
}

/**
 * A token bucket of a tenth of the minute's requests, refilled at nine tenths of the limit, and empty at the start. No 60
 * seconds see more than `maxRequestsPerMinute`, even across restarts.
 */
export function newRateLimiter({ clock, maxRequestsPerMinute, pausedUntil, onPause }: RateLimiterOptions) {
  let limit = maxRequestsPerMinute
  let tokens = 0
  let countedAt = clock.monotonic()
  let pauseEnd = countedAt + leftOfPause(pausedUntil, clock)
  /** Whether the service asked for more than the longest pause. */
  let mustCheck = false
  const inTurn = oneByOne()
  const [beginning, begun] = [oneByOne(), oneByOne()]

  const service = serviceWindow(clock)
  const own = () => (0.9 * limit) / 60
  const perSecond = () => Math.min(own(), service.pace())
  const most = () => (limit === 0 ? 0 : Math.max(1, Math.min(limit / 10, service.burst())))

  function refill(): number {
    const now = clock.monotonic()
    tokens = Math.min(most(), tokens + (now - countedAt) * perSecond())
    countedAt = now
    return now
  }

  async function grant(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const now = refill()
      const wait = Math.max(pauseEnd - now, (1 - tokens) / perSecond())
      // A timer cannot wait for less than a microsecond.
      if (wait < 1e-6) break
      // In steps, because the limit may be raised meanwhile.
      await sleep(clock, Math.min(wait, MAX_SLEEP_SECONDS), signal)
    }
    tokens -= 1
    if (mustCheck) pauseEnd = clock.monotonic() + CHECK_SECONDS
    mustCheck = false
  }

  return {
    /**
     * Resolves when a request may be made. Rejects if `signal` is aborted before that; then it uses up nothing.
     *
     * @param isBegun whether it belongs to a poll that has made requests. Polls that begin get every second request at most, so
     *   that a long list is read in time among the targets of an app that has too many.
     */
    take: (signal: AbortSignal, isBegun = false) => (isBegun ? begun : beginning)(() => inTurn(() => grant(signal))),
    /** Seconds left of the rate limit pause; 0 without one. */
    pausedFor: () => Math.max(0, pauseEnd - clock.monotonic()),
    /** Whether a request that can wait may be made: half of the burst is left, and the service asks for nothing else. */
    hasSpare: () => refill() >= pauseEnd && service.pace() >= own() && tokens >= Math.max(1, most() / 2),
    /** Call it when an answer says how much of the service's own limit is left. */
    note: service.note,
    /** How many requests a minute are granted now, and whether the service's own limit is the reason for fewer than configured. */
    pace: () => ({ perMinute: 60 * perSecond(), isSlowed: service.pace() < own() }),
    /**
     * With 0 it grants nothing.
     *
     * @param share this daemon's share of the limit, and of what the service's own limit leaves (0 to 1)
     */
    setLimit: (max: number, share = 1): void => {
      refill()
      limit = max * share
      service.setShare(share)
    },
    /** Starts or extends the rate limit pause, because the service asked callwatch to wait so many seconds. */
    pause: (requested: number): void => {
      const seconds = Math.min(requested, MAX_PAUSE_SECONDS)
      const until = clock.monotonic() + seconds
      if (until <= pauseEnd) return
      pauseEnd = until
      mustCheck = requested > MAX_PAUSE_SECONDS
      onPause(clock.wall() + seconds)
    },
  }
}
