import type { Clock } from '../clock/clock.ts'
import { formatNumber, formatSeconds } from '../text/format.ts'

/** How often an ongoing problem is logged again (seconds). */
export const LOG_REPEAT_SECONDS = 900

/** What a problem amounts to: since when (UNIX seconds), for how long (seconds), and how often something failed. */
export type Amount = { since: number; seconds: number; failures: number }

type OngoingProblem = {
  since: number
  began: number
  logged: number
  failures: number
  /** How many there were when it was last logged. */
  loggedFailures: number
  problem: string
  /** The problem counts as ongoing until `ended` is called, even if nothing fails meanwhile. */
  isState: boolean
}

/** What fails again and again, each by its own key: it is logged when it begins, each quarter of an hour, and when it ends. */
export type OngoingProblems = {
  /** Notes a failure; whether it is the first one. */
  failed: (key: string, problem: string) => boolean
  /** Begins with what is no failure by itself. */
  begin: (key: string, problem: string) => void
  /** Notes a failure of what has begun. */
  again: (key: string) => void
  /** What has ended with this success; undefined if nothing had failed. */
  ended: (key: string) => Amount | undefined
  /**
   * Problems that were not logged for a quarter of an hour; marks them as logged. A problem that has not recurred meanwhile is
   * dropped: another daemon does that work now, or none does.
   */
  due: () => (Amount & { key: string; problem: string })[]
}

export function ongoingProblems(clock: Pick<Clock, 'wall' | 'monotonic'>): OngoingProblems {
  const ongoing = new Map<string, OngoingProblem>()
  const amountOf = ({ since, began, failures }: OngoingProblem): Amount => ({
    since,
    seconds: clock.monotonic() - began,
    failures,
  })
  const begin = (key: string, problem: string, failures: number) => {
    const now = clock.monotonic()
    const isState = failures === 0
    const counts = { failures, loggedFailures: failures }
    ongoing.set(key, { since: clock.wall(), began: now, logged: now, ...counts, problem, isState })
  }
  return {
    failed: (key, problem) => {
      const known = ongoing.get(key)
      if (known === undefined) {
        begin(key, problem, 1)
        return true
      }
      known.failures += 1
      known.problem = problem
      return false
    },
    begin: (key, problem) => begin(key, problem, 0),
    again: (key) => {
      const known = ongoing.get(key)
      if (known !== undefined) known.failures += 1
    },
    ended: (key) => {
      const known = ongoing.get(key)
      ongoing.delete(key)
      return known && amountOf(known)
    },
    due: () => {
      const now = clock.monotonic()
      const due = [...ongoing].filter(([, { logged }]) => now - logged >= LOG_REPEAT_SECONDS)
      return due.flatMap(([key, each]) => {
        if (!each.isState && each.failures === each.loggedFailures) {
          ongoing.delete(key)
          return []
        }
        each.logged = now
        each.loggedFailures = each.failures
        return [{ key, problem: each.problem, ...amountOf(each) }]
      })
    },
  }
}

/** `, after 1h 5m; 240 polls failed`. */
export function afterText({ seconds, failures }: Amount, thing: string): string {
  return `, after ${formatSeconds(seconds)}; ${formatNumber(failures)} ${thing}${failures === 1 ? '' : 's'} failed`
}
