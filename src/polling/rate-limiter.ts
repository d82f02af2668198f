import { type Clock, sleep } from '../clock/clock.ts'
import type { RateLimitWindow } from '../service/answer-headers.ts'
import { oneByOne } from '../clock/one-by-one.ts'

/** The service's limits are per minute. An older report is outdated (seconds). */
const WINDOW_SECONDS = 60
/** The use by others is measured over at least this long, and forgotten in about four times as long (seconds). */
const SPAN_SECONDS = 5
const KEPT = 0.75
/** Requests a second that are always made. Without any, callwatch would not notice that the limit allows more again. */
const LEAST = 2 / 60

/**
 * Leaves half of the service's own remaining limit to other users of the app. For a limit over the last minute: half of what is left at
 * any time. For a limit that restarts each minute: half of what will be left if others continue as in the last seconds.
 */
function serviceWindow(clock: Clock) {
  let made = 0
  let last: { at: number; remaining: number; end: number } | undefined
  let span: { at: number; remaining: number; made: number } | undefined
  /** Requests a second of other users. */
  let others = 0

  return {
    /** Call it for each request. */
    count: () => {
      made += 1
    },
    /** Call it when an answer says how much is left. */
    note: ({ remaining, resetIn }: RateLimitWindow) => {
      const at = clock.monotonic()
      const isNew = last === undefined || last.end <= at || remaining > last.remaining
      const end = isNew ? at + WINDOW_SECONDS : last!.end
      last = { at, remaining, end: resetIn === undefined ? end : at + Math.min(resetIn, WINDOW_SECONDS) }
      span ??= { at, remaining, made }
      if (at - span.at < SPAN_SECONDS) return
      const used = Math.max(0, span.remaining - remaining - (made - span.made)) / (at - span.at)
      others = used > others ? used : others * KEPT + used * (1 - KEPT)
      span = { at, remaining, made }
    },
    /** How many requests a second callwatch may make; Infinity while the service reports no limit. */
    pace: () => {
      const now = clock.monotonic()
      if (last === undefined || now - last.at > WINDOW_SECONDS) return Infinity
      const left = Math.max(0, last.end - now)
      const spare = last.remaining - others * left
      return Math.max(LEAST, Math.min(last.remaining / WINDOW_SECONDS, spare / Math.max(SPAN_SECONDS, left)) / 2)
    },
  }
}

/** Grants requests to one app, one after the other. All targets of the app share it. */
export type RateLimiter = {
  /** Resolves when a request may be made. Rejects if `signal` is aborted before that; then it uses up nothing. */
  take: (signal: AbortSignal) => Promise<void>
  /** Starts or extends the rate limit pause, because the service asked callwatch to wait this long. */
  pause: (seconds: number) => void
  /** Seconds left of the rate limit pause; 0 without one. */
  pausedFor: () => number
  /** Whether a request that can wait may be made: half of the burst is left, and the service asks for nothing else. */
  hasSpare: () => boolean
  /** Call it when an answer says how much of the service's own limit is left. */
  note: (limit: RateLimitWindow) => void
  /**
   * How many requests a minute are granted now, and whether the service's own limit is the reason for fewer than configured.
   */
  pace: () => { perMinute: number; isSlowed: boolean }
}

/** A rate limiter whose limit can change; with 0 it grants nothing. */
export type AdjustableRateLimiter = RateLimiter & { setLimit: (maxRequestsPerMinute: number) => void }

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
/** How many seconds' worth of the service's own pace may be used at once. */
const BURST_SECONDS = 6

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
 * seconds see more than `maxRequestsPerMinute`, even across restarts. First come, first served.
 */
export function newRateLimiter({
  clock,
  maxRequestsPerMinute,
  pausedUntil,
  onPause,
}: RateLimiterOptions): AdjustableRateLimiter {
  let limit = maxRequestsPerMinute
  let tokens = 0
  let countedAt = clock.monotonic()
  let pauseEnd = countedAt + leftOfPause(pausedUntil, clock)
  /** Whether the service asked for more than the longest pause. */
  let mustCheck = false
  const inTurn = oneByOne()

  const service = serviceWindow(clock)
  const own = () => (0.9 * limit) / 60
  const perSecond = () => Math.min(own(), service.pace())
  const most = () => (limit === 0 ? 0 : Math.max(1, Math.min(limit / 10, service.pace() * BURST_SECONDS)))

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
    service.count()
    if (mustCheck) pauseEnd = clock.monotonic() + CHECK_SECONDS
    mustCheck = false
  }

  return {
    take: (signal) => inTurn(() => grant(signal)),
    pausedFor: () => Math.max(0, pauseEnd - clock.monotonic()),
    hasSpare: () => refill() >= pauseEnd && service.pace() >= own() && tokens >= Math.max(1, most() / 2),
    note: service.note,
    pace: () => ({ perMinute: 60 * perSecond(), isSlowed: service.pace() < own() }),
    setLimit: (max) => {
      refill()
      limit = max
    },
    pause: (requested) => {
      const seconds = Math.min(requested, MAX_PAUSE_SECONDS)
      const until = clock.monotonic() + seconds
      if (until <= pauseEnd) return
      pauseEnd = until
      mustCheck = requested > MAX_PAUSE_SECONDS
      onPause(clock.wall() + seconds)
    },
  }
}
