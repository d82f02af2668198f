import { sleep, type Clock } from '../clock/clock.ts'

/** Grants requests to one address with one key, one after the other. Shared by all targets that use both. */
export type RateBudget = {
  /** Resolves when a request may be made; rejects when `signal` is aborted first, without having used anything up. */
  take: (signal: AbortSignal) => Promise<void>
  /** Holds every request back for that many seconds, because the service asked for it. */
  holdBack: (seconds: number) => void
  /** For how many seconds more requests are held back; 0 when they are not. */
  heldFor: () => number
}

/** One whose limit may be set anew; with 0 nothing is granted. */
export type AdjustableBudget = RateBudget & { limitTo: (maxRequestsPerMinute: number) => void }

export type RateBudgetOptions = {
  clock: Clock
  maxRequestsPerMinute: number
  /** Until when requests are held back from before a restart (UNIX seconds by the host's clock). */
  heldUntil: number | undefined
  /** Told a new end of holding back (UNIX seconds by the host's clock), so that it outlives a restart. */
  onHold: (until: number) => void
}

/** Seconds. */
const LONGEST_SLEEP = 1

/** A service that asks for more (seconds) is believed for so long; then one request finds out whether it still means it. */
const LONGEST_PAUSE = 3600
/** So long all others wait for the answer to that one (seconds). */
const ANSWER_TIME = 10

/**
 * A token bucket of a tenth of the minute's requests, refilled at nine tenths of the limit and empty at the start: no
 * 60 seconds see more than `maxRequestsPerMinute`, restarts included. First come, first served.
 */
export function rateBudget({ clock, maxRequestsPerMinute, heldUntil, onHold }: RateBudgetOptions): AdjustableBudget {
  let limit = maxRequestsPerMinute
  let tokens = 0
  let countedAt = clock.monotonic()
  let freeAt = countedAt + Math.max(0, (heldUntil ?? 0) - clock.wall())
  /** The service has asked for more than it was believed. */
  let isDoubted = false
  let queue: Promise<unknown> = Promise.resolve()

  const perSecond = () => (0.9 * limit) / 60
  function refill(): number {
    const now = clock.monotonic()
    const most = limit === 0 ? 0 : Math.max(1, limit / 10)
    tokens = Math.min(most, tokens + (now - countedAt) * perSecond())
    countedAt = now
    return now
  }

  async function grant(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const now = refill()
      const wait = Math.max(freeAt - now, (1 - tokens) / perSecond())
      // The tolerance is a microsecond: less than that a timer cannot wait for.
      if (wait < 1e-6) break
      // Not all at once: the limit may be raised meanwhile.
      await sleep(clock, Math.min(wait, LONGEST_SLEEP), signal)
    }
    tokens -= 1
    if (isDoubted) freeAt = clock.monotonic() + ANSWER_TIME
    isDoubted = false
  }

  return {
    take: (signal) => {
      const granted = queue.then(() => grant(signal))
      queue = granted.catch(() => undefined)
      return granted
    },
    heldFor: () => Math.max(0, freeAt - clock.monotonic()),
    limitTo: (max) => {
      refill()
      limit = max
    },
    holdBack: (asked) => {
      const seconds = Math.min(asked, LONGEST_PAUSE)
      const until = clock.monotonic() + seconds
      if (until <= freeAt) return
      freeAt = until
      isDoubted = asked > LONGEST_PAUSE
      onHold(clock.wall() + seconds)
    },
  }
}
