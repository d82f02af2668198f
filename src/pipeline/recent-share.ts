import { sum } from '../alerts/signal.ts'
import { KEPT_SECONDS, type Share } from '../alerts/trigger.ts'

/**
 * How many requests were made in the last half hour, and how many of them failed with which code, by whole minutes.
 *
 * @param monotonic seconds
 */
export function recentShare(monotonic: () => number) {
  let minutes: { minute: number; all: number; codes: Map<string, number> }[] = []
  return {
    /** @param wrong the code of each request that failed */
    add: (all: number, wrong: readonly string[]) => {
      const minute = Math.floor(monotonic() / 60)
      minutes = minutes.filter((past) => (minute - past.minute) * 60 <= KEPT_SECONDS)
      if (minutes.at(-1)?.minute !== minute) minutes.push({ minute, all: 0, codes: new Map() })
      const latest = minutes.at(-1)!
      latest.all += all
      for (const code of wrong) latest.codes.set(code, (latest.codes.get(code) ?? 0) + 1)
    },
    /** Those of the last seconds. */
    within: (seconds: number): Share => {
      const from = monotonic() - seconds
      const own = minutes.filter(({ minute }) => (minute + 1) * 60 > from)
      const codes = new Map<string, number>()
      for (const [code, times] of own.flatMap((one) => [...one.codes])) codes.set(code, (codes.get(code) ?? 0) + times)
      const [code] = [...codes].toSorted(([, a], [, b]) => b - a)[0] ?? []
      return { all: sum(own.map(({ all }) => all)), wrong: sum([...codes.values()]), code }
    },
  }
}
