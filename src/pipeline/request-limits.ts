import { defer, lastValueFrom, merge, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { leftOfPause, newRateLimiter, type AdjustableRateLimiter, type RateLimiter } from '../polling/rate-limiter.ts'
import { storeRetried } from '../store/store-retried.ts'
import type { Store } from '../store/store.ts'
import { rateLimitKey, type TargetSettings } from './target.ts'

export type RequestLimitsOptions = {
  store: Pick<Store, 'cluster' | 'pausedUntil' | 'pauseUntil'>
  clock: Clock
  /**
   * All targets with the key of their URL (`rateLimitKey`). `limit` is set for targets that this daemon polls at the moment.
   */
  members: () => Iterable<{ rateLimitKey: string; limit: number | undefined }>
  draining$: Observable<unknown>
  /** The rate limiters by `rateLimitKey`. Missing ones are added. */
  rateLimiters?: Map<string, AdjustableRateLimiter> | undefined
}

export type RequestLimits = ReturnType<typeof requestLimits>

/** Pauses that differ by less than this are the same pause, since clocks differ slightly (seconds). */
const SAME_PAUSE_SECONDS = 0.5

/**
 * The rate limiters, one for each URL. Daemons that share a store also share the limit: a daemon's share is its
 * share of the targets with that URL.
 */
export function requestLimits(options: RequestLimitsOptions) {
  const { store, clock, members, draining$, rateLimiters = new Map<string, AdjustableRateLimiter>() } = options
  const { cluster } = store
  let isResizing = false

  /**
   * The rate limiter of a target, with the rate limit pauses that were stored before a restart or by other daemons.
   *
   * @throws {StoreError}
   */
  async function rateLimiterOf({ target, poll }: TargetSettings): Promise<RateLimiter> {
    const key = rateLimitKey(target)
    const pausedUntil = await store.pausedUntil(key)
    // If daemons share a store, none has a share of the limit before it polls a target.
    const maxRequestsPerMinute = cluster === undefined ? poll.maxRequestsPerMinute : 0
    const onPause = (until: number) => void writePause(key, until)
    const rateLimiter = rateLimiters.get(key) ?? newRateLimiter({ clock, maxRequestsPerMinute, pausedUntil, onPause })
    rateLimiters.set(key, rateLimiter)
    if (cluster === undefined) rateLimiter.setLimit(maxRequestsPerMinute)
    else applyPause(rateLimiter, pausedUntil)
    return rateLimiter
  }

  /** Keeps the pause in memory meanwhile. Retries until the store is writable or the pause has ended. */
  async function writePause(key: string, until: number): Promise<void> {
    const ended$ = timer(leftOfPause(until, clock) * 1000, clock.scheduler)
    const written$ = defer(() => store.pauseUntil(key, until)).pipe(
      storeRetried(clock),
      takeUntil(merge(ended$, draining$)),
    )
    await lastValueFrom(written$, { defaultValue: undefined })
  }

  function applyPause(rateLimiter: RateLimiter | undefined, until: number | undefined): void {
    const seconds = leftOfPause(until, clock)
    if (rateLimiter !== undefined && seconds > rateLimiter.pausedFor() + SAME_PAUSE_SECONDS) rateLimiter.pause(seconds)
  }

  /** For each key: the limit, and the share of its targets that this daemon polls. */
  function shares() {
    return [...Map.groupBy(members(), (member) => member.rateLimitKey)].map(([key, all]) => {
      const limits = all.flatMap(({ limit }) => limit ?? [])
      return { key, limit: limits.at(-1) ?? 0, share: limits.length / all.length }
    })
  }

  return {
    rateLimiterOf,
    /** Sets this daemon's shares. Runs once if thousands of targets start in the same turn of the event loop. */
    resize: (): void => {
      if (cluster === undefined || isResizing) return
      isResizing = true
      clock.scheduler.schedule(() => {
        isResizing = false
        for (const { key, limit, share } of shares()) rateLimiters.get(key)?.setLimit(limit, share)
      }, 0)
    },
    /**
     * Applies the pauses (Retry-After) that other daemons received for targets that this daemon polls too. Call it every
     * second.
     */
    replicatePauses: async (): Promise<void> => {
      const shared = shares().filter(({ share }) => share > 0 && share < 1)
      await Promise.all(shared.map(async ({ key }) => applyPause(rateLimiters.get(key), await store.pausedUntil(key))))
    },
  }
}
