import { Subscription, type SchedulerAction, type SchedulerLike } from 'rxjs'
import type { Clock } from '../../src/clock/clock.ts'

/** A clock that stands still until a test advances it; all timers due in between run at their own time. */
export type VirtualClock = Clock & {
  /** Advances by that many seconds, and lets promises settle before and after each timer. */
  advance: (seconds: number) => Promise<void>
  /** Moves the wall clock alone, as when an administrator sets it. */
  stepWall: (seconds: number) => void
  /** Number of timers that are not due yet. */
  waiting: () => number
}

type Due = { at: number; order: number; run: () => void; action: Subscription }

/** @param wall UNIX seconds at the start */
export function virtualClock(wall = 1_790_000_000): VirtualClock {
  let now = 0
  let wallStart = wall
  let scheduled = 0
  let queue: Due[] = []

  const enqueue = (action: Subscription, delay: number, run: () => void) => {
    const due: Due = { at: now + Math.max(0, delay), order: scheduled++, run, action }
    const index = queue.findIndex(({ at }) => at > due.at)
    queue.splice(index === -1 ? queue.length : index, 0, due)
    action.add(() => {
      queue = queue.filter((other) => other !== due)
    })
  }
  const scheduler: SchedulerLike = {
    now: () => now,
    schedule: <T>(
      work: (this: SchedulerAction<T>, state: T) => void,
      delay: number | undefined,
      state?: T,
    ): Subscription => {
      const action: SchedulerAction<T> = Object.assign(new Subscription(), {
        schedule: (next?: T, nextDelay = 0): Subscription => {
          enqueue(action, nextDelay, () => work.call(action, next!))
          return action
        },
      })
      return action.schedule(state, delay ?? 0)
    },
  }
  return {
    wall: () => wallStart + now / 1000,
    monotonic: () => now / 1000,
    scheduler,
    stepWall: (seconds) => (wallStart += seconds),
    waiting: () => queue.length,
    advance: async (seconds) => {
      const end = now + seconds * 1000
      await settled()
      for (let due = queue[0]; due !== undefined && due.at <= end; due = queue[0]) {
        queue.shift()
        now = due.at
        if (!due.action.closed) due.run()
        await settled()
      }
      now = end
    },
  }
}

/** Lets promises settle. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
