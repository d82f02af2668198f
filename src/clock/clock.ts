import { asyncScheduler, firstValueFrom, fromEvent, NEVER, takeUntil, throwIfEmpty, timer } from 'rxjs'
import type { SchedulerLike } from 'rxjs'

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
export async function sleep({ scheduler }: Clock, seconds: number, signal?: AbortSignal): Promise<void> {
  const aborted$ = signal === undefined ? NEVER : fromEvent(signal, 'abort')
  const aborted = () => new Error('aborted while waiting', { cause: signal?.reason })
  await firstValueFrom(timer(seconds * 1000, scheduler).pipe(takeUntil(aborted$), throwIfEmpty(aborted)))
}
