import type { Clock } from '../../clock/clock.ts'
import type { Live } from './now.ts'
import type { Suppressing } from './suppress.ts'

/** For how long nothing has suppressed alerts (seconds): since this process first saw each by the monotonic clock, and before by the host's. */
export function freeTimes({ monotonic, wall }: Clock) {
  let begun = new Map<string, number>()
  let last = -Infinity
  let previous = -Infinity
  return {
    /** Call it each second. */
    tick: () => ([previous, last] = [last, monotonic()]),
    /** Those that are not asked for are suppressed, or over. */
    look: ({ freeSeconds }: Suppressing) => {
      const before = begun
      begun = new Map()
      return ({ episode, alert }: Live): number => {
        const newest = () => Math.min(freeSeconds(alert, alert.firingSince, wall()), monotonic() - previous)
        const since = before.get(episode) ?? monotonic() - newest()
        begun.set(episode, since)
        return monotonic() - since
      }
    },
  }
}
