import { asyncScheduler, type SchedulerLike } from 'rxjs'

/** The source of time. Only this file uses `Date.now` and `setTimeout`, so that tests can control the clock. */
export type Clock = {
  /** The host's wall clock (UNIX seconds). It may step. */
  wall: () => number
  /** Seconds since some fixed moment; never steps. */
  monotonic: () => number
  /** Runs timers. Its times are milliseconds, as everywhere in RxJS. */
  scheduler: SchedulerLike
}

export const systemClock: Clock = {
  wall: () => Date.now() / 1000,
  monotonic: () => performance.now() / 1000,
  scheduler: asyncScheduler,
}

/**
 * Resolves after this many seconds. Rejects if the signal is aborted first. The host's timers cannot wait longer than 24 days.
 */
export function sleep(clock: Clock, seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      waiting.unsubscribe()
      reject(new Error('aborted while waiting', { cause: signal?.reason }))
    }
    const waiting = clock.scheduler.schedule(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, seconds * 1000)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
