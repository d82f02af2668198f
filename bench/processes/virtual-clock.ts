import { asyncScheduler, type SchedulerAction } from 'rxjs'
import type { Clock } from '../../src/clock/clock.ts'

export type VirtualClock = {
  clock: Clock
  /** Advances it to a moment (UNIX seconds), from which it runs by itself until it is stopped. */
  goFrom: (now: number) => void
  stop: () => void
}

/**
 * A clock that the parent sets on from poll to poll, and that goes during a poll only.
 *
 * @param start UNIX seconds
 * @param speed how many of its seconds pass in one of the host's: what takes no time to wait for takes that much longer
 */
export function virtualClock(start: number, speed: number): VirtualClock {
  let stoodAt = start
  let goesSince: number | undefined
  const now = () => (goesSince === undefined ? stoodAt : stoodAt + ((performance.now() - goesSince) / 1000) * speed)
  const stop = () => {
    stoodAt = now()
    goesSince = undefined
  }
  return {
    clock: {
      wall: now,
      monotonic: now,
      scheduler: {
        now: () => now() * 1000,
        schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T) =>
          asyncScheduler.schedule(work, (delay ?? 0) / speed, state),
      },
    },
    goFrom: (moment) => {
      stop()
      if (moment < stoodAt) throw new Error(`the bench would set its clock back, from ${stoodAt} to ${moment}`)
      stoodAt = moment
      goesSince = performance.now()
    },
    stop,
  }
}
