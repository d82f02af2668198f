import { KEPT_SECONDS, type Share } from '../alerts/trigger.ts'

/**
 * How many things happened in the last half hour, and how many of them went wrong, by whole minutes.
 *
 * @param monotonic seconds
 */
export function recentShare(monotonic: () => number) {
  let minutes: (Share & { minute: number })[] = []
  return {
    add: (all: number, wrong: number) => {
      const minute = Math.floor(monotonic() / 60)
      const before = minutes.at(-1)?.minute === minute ? minutes.pop() : undefined
      minutes = minutes.filter((past) => (minute - past.minute) * 60 <= KEPT_SECONDS)
      minutes.push({ minute, all: (before?.all ?? 0) + all, wrong: (before?.wrong ?? 0) + wrong })
    },
    /** Those of the last seconds. */
    within: (seconds: number): Share => {
      const from = monotonic() - seconds
      const sum: Share = { all: 0, wrong: 0 }
      for (const { minute, all, wrong } of minutes) {
        if ((minute + 1) * 60 <= from) continue
        sum.all += all
        sum.wrong += wrong
      }
      return sum
    },
  }
}
