import { KEPT_SECONDS, type Share } from '../alerts/trigger.ts'

/** How many things happened in the last half hour, and how many of them went wrong, by whole minutes. */
export type RecentShare = {
  add: (all: number, wrong: number) => void
  /** Those of the last seconds. */
  within: (seconds: number) => Share
}

/** @param monotonic seconds */
export function recentShare(monotonic: () => number): RecentShare {
  let minutes: (Share & { minute: number })[] = []
  return {
    add: (all, wrong) => {
      const minute = Math.floor(monotonic() / 60)
      const before = minutes.at(-1)?.minute === minute ? minutes.pop() : undefined
      minutes = minutes.filter((past) => (minute - past.minute) * 60 <= KEPT_SECONDS)
      minutes.push({ minute, all: (before?.all ?? 0) + all, wrong: (before?.wrong ?? 0) + wrong })
    },
    within: (seconds) => {
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
