import type { Clock } from '../../clock/clock.ts'
import type { Live } from './now.ts'
import type { Suppressing } from './suppress.ts'

export type FreeTimes = ReturnType<typeof freeTimes>

/**
 * For how long nothing has suppressed alerts, by the monotonic clock from when this process first saw each so (seconds). What it finds at
 * its start was free for as long as is stored; what it finds later cannot have been for longer than since the second before.
 */
export function freeTimes({ monotonic, wall }: Clock) {
  let begun = new Map<string, number>()
  let [last, previous] = [-Infinity, -Infinity]
  return {
    /** Call it each second. */
    tick: (): void => void ([previous, last] = [last, monotonic()]),
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
