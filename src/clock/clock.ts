import { asyncScheduler, type SchedulerLike } from 'rxjs'

/** Where time comes from. `Date.now` and `setTimeout` stand nowhere else, so that a test can run the clock. */
export type Clock = {
  /** The host's wall clock (UNIX seconds); it may step. */
  wall: () => number
  /** Seconds since some fixed moment; never steps. */
  monotonic: () => number
  /** Runs what is due later; its times are milliseconds, as everywhere in RxJS. */
  scheduler: SchedulerLike
}

export const systemClock: Clock = {
  wall: () => Date.now() / 1000,
  monotonic: () => performance.now() / 1000,
  scheduler: asyncScheduler,
}

/** A timer of the host cannot wait longer than this (seconds); who waits for more looks again in between. */
const LONGEST_SLEEP = 3600

/** Resolves after that many seconds, an hour at most; rejects when the signal is aborted first. */
export function sleep(clock: Clock, seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      waiting.unsubscribe()
      reject(new Error('aborted while waiting', { cause: signal?.reason }))
    }
    const waiting = clock.scheduler.schedule(
      () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      },
      Math.min(seconds, LONGEST_SLEEP) * 1000,
    )
    signal?.addEventListener('abort', abort, { once: true })
  })
}
