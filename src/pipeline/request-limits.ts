import { defer, EMPTY, lastValueFrom, retry, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { leftOfPause, newRateLimiter, type AdjustableRateLimiter, type RateLimiter } from '../polling/rate-limiter.ts'
import { StoreError } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import type { ManagedTarget } from './managed-target.ts'
import { rateLimitKey, type TargetSettings } from './target.ts'

/** A target by its URL and API key (`rateLimitKey`), and whether this daemon polls it at the moment. */
type LimitedTarget = Pick<ManagedTarget, 'rateLimitKey' | 'state'>

export type RequestLimitsOptions = {
  store: Pick<Store, 'cluster' | 'pausedUntil' | 'pauseUntil'>
  clock: Clock
  /** All targets that are open. */
  members: () => Iterable<LimitedTarget>
  draining$: Observable<unknown>
  /** The rate limiters that there are, by URL and API key; a missing one is added. */
  rateLimiters?: Map<string, AdjustableRateLimiter> | undefined
}

/** The rate limiters, one for each URL and API key; daemons that share a store keep a limit together. */
export type RequestLimits = {
  /**
   * the rate limiter of a target, with the rate limit pauses stored before a restart or by other daemons.
   *
   * @throws {StoreError}
   */
  rateLimiterOf: (settings: TargetSettings) => Promise<RateLimiter>
  /** Sets this daemon's share of the limit of a target, and of those with the same URL and API key. */
  resizeLimit: (settings: TargetSettings) => void
  /** Applies the pauses (Retry-After) that other daemons received; to be called each second. */
  replicatePauses: () => Promise<void>
}

/** What differs by less (seconds) is the same pause, by clocks that are not quite the same. */
const SAME_PAUSE_SECONDS = 0.5

/** A daemon's share of a limit is its share of the targets with that URL and API key. */
export function requestLimits(options: RequestLimitsOptions): RequestLimits {
  const { store, clock, members, draining$, rateLimiters = new Map<string, AdjustableRateLimiter>() } = options
  const { cluster } = store
  /** The keys whose share of the limit has changed, with the limit. */
  const resized = new Map<string, number>()

  async function rateLimiterOf({ target, poll }: TargetSettings): Promise<RateLimiter> {
    const key = rateLimitKey(target)
    const pausedUntil = await store.pausedUntil(key)
    // Where daemons share a store, none has a part of the limit before it polls anything.
    const limit = cluster === undefined ? poll.maxRequestsPerMinute : 0
    const existing = rateLimiters.get(key)
    if (existing !== undefined) {
      if (cluster === undefined) existing.setLimit(limit)
      else applyPause(existing, pausedUntil)
      return existing
    }
    const added = newRateLimiter({
      clock,
      maxRequestsPerMinute: limit,
      pausedUntil,
      onPause: (until) => void writePause(key, until),
    })
    rateLimiters.set(key, added)
    return added
  }

  /** Kept in memory meanwhile: retries until the store is writable or the pause has ended. */
  async function writePause(key: string, until: number): Promise<void> {
    const written$ = defer(() => store.pauseUntil(key, until)).pipe(
      retry({
        delay: (error) => {
          if (!(error instanceof StoreError)) throw error
          return clock.wall() < until ? timer(1000, clock.scheduler) : EMPTY
        },
      }),
      takeUntil(draining$),
    )
    await lastValueFrom(written$, { defaultValue: undefined })
  }

  async function applyPauses(keys: readonly string[]): Promise<void> {
    for (const [key, until] of (await cluster?.pauses(keys)) ?? []) applyPause(rateLimiters.get(key), until)
  }

  function applyPause(rateLimiter: RateLimiter | undefined, until: number | undefined): void {
    const seconds = leftOfPause(until, clock)
    if (rateLimiter !== undefined && seconds > rateLimiter.pausedFor() + SAME_PAUSE_SECONDS) rateLimiter.pause(seconds)
  }

  /** The keys of which this daemon polls some targets, and others the rest. */
  function sharedKeys(): string[] {
    const own = new Set<string>()
    const others = new Set<string>()
    for (const member of members()) (member.state === 'running' ? own : others).add(member.rateLimitKey)
    return [...own.intersection(others)]
  }

  /** Thousands of targets may begin to run in one turn: their shares are computed together. */
  function resize(): void {
    const counts = new Map(resized.keys().map((key) => [key, { all: 0, own: 0 }]))
    for (const { rateLimitKey: key, state } of members()) {
      const count = counts.get(key)
      if (count === undefined) continue
      count.all += 1
      if (state === 'running') count.own += 1
    }
    for (const [key, { all, own }] of counts)
      rateLimiters.get(key)?.setLimit((resized.get(key)! * own) / Math.max(1, all))
    resized.clear()
  }

  return {
    rateLimiterOf,
    resizeLimit: ({ target, poll }) => {
      if (cluster === undefined) return
      if (resized.size === 0) clock.scheduler.schedule(resize, 0)
      resized.set(rateLimitKey(target), poll.maxRequestsPerMinute)
    },
    replicatePauses: () => applyPauses(sharedKeys()),
  }
}
