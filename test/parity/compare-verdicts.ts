import type { Reading } from '../../src/alerts/reading.ts'
import type { Rule } from '../../src/alerts/rule.ts'
import { CLOSED, isIn } from './episodes.ts'
import { judgeAtScrapes } from './judge-at-scrapes.ts'
import type { Verdicts } from './judge-with-promtool.ts'
import type { Scrape } from './watched-history.ts'

/**
 * Why the verdicts differ.
 *
 * - `timers`: by the same values, but durations are taken between scrapes, not between looks that last now longer, now
 *   shorter; and how old the last good poll is, is asked at another moment
 * - `windows`: callwatch counts calls by when they ended, Prometheus by when a scrape first showed them as over
 * - `polls`: callwatch judges nothing after a poll that failed, Prometheus goes on until it knows nothing any more
 * - `down`: the daemon is down and says nothing; to Prometheus it is a target without a good poll
 * - `UNEXPLAINED`: none of this
 */
export const CAUSES = ['timers', 'windows', 'polls', 'down', 'UNEXPLAINED'] as const
export type Cause = (typeof CAUSES)[number]

/** Evaluations in a row at which the two differ in the same way for the same cause. */
export type Difference = {
  alert: string
  /** The first, in seconds since the history began. */
  at: number
  evaluations: number
  firesIn: 'callwatch' | 'prometheus'
  cause: Cause
  evidence: Evidence | undefined
}

/** The evaluation that made the difference, with what each went by then; or that callwatch went by nothing. */
export type Evidence = { at: number; looks: Reading | undefined; scrapes: Reading | undefined }

/** For each rule: evaluations compared, those at which both said that it fires, and the differences. */
export type Comparison = { alert: string; compared: number; bothFiring: number; differences: Difference[] }

/**
 * Compares verdicts evaluation by evaluation. A cause is accepted only where callwatch's own code, put into Prometheus's
 * place in that one respect, says exactly what Prometheus does, at this very evaluation: there is no leeway in time. For
 * `windows` and `polls` there must also be an evaluation that made the difference, no longer ago than the rule remembers.
 *
 * @param interval seconds between two scrapes
 */
export function compareVerdicts(
  rules: readonly Rule[],
  scrapes: readonly Scrape[],
  prometheus: Verdicts,
  interval: number,
): Comparison[] {
  return rules.map((rule) => {
    const alert = rule.name
    const byLooks = judgeAtScrapes(rule, scrapes, 'looks', interval)
    const byScrapes = judgeAtScrapes(rule, scrapes, 'scrapes', interval)
    const comparison: Comparison = { alert, compared: 0, bothFiring: 0, differences: [] }
    const { differences } = comparison
    for (const [i, scrape] of scrapes.entries()) {
      if (isIn([CLOSED], scrape.at - 1)) continue
      comparison.compared += 1
      const inCallwatch = scrape.firing.has(alert)
      const inPrometheus = prometheus[i]!.has(alert)
      if (inCallwatch && inPrometheus) comparison.bothFiring += 1
      if (inCallwatch === inPrometheus) continue
      const firesIn = inCallwatch ? 'callwatch' : 'prometheus'
      const last = differences.at(-1)
      const goesOn = last?.firesIn === firesIn && last.at + last.evaluations * interval === scrape.at
      const asByLooks = byLooks[i]!.firing === inPrometheus
      const asByScrapes = byScrapes[i]!.firing === inPrometheus
      if (goesOn && (last.cause === 'timers' ? asByLooks : last.cause !== 'UNEXPLAINED' && asByScrapes)) {
        last.evaluations += 1
        continue
      }
      const found = asByLooks ? { cause: 'timers' as const } : asByScrapes ? foundAt(i) : undefined
      const { cause, evidence } = { cause: 'UNEXPLAINED' as const, evidence: undefined, ...found }
      if (goesOn && last.cause === cause) last.evaluations += 1
      else differences.push({ alert, at: scrape.at, evaluations: 1, firesIn, cause, evidence })
    }
    return comparison

    /** What lately made callwatch and Prometheus go by different things. */
    function foundAt(until: number): { cause: Cause; evidence?: Evidence } | undefined {
      if (!scrapes[until]!.up) return { cause: 'down' }
      for (let i = until; i >= Math.max(0, until - Math.ceil(memoryOf(rule) / interval) - 1); i--) {
        const { at, look } = scrapes[i]!
        const evidence = { at, looks: look && byLooks[i]!.reading, scrapes: byScrapes[i]!.reading }
        if (look === undefined) return { cause: 'polls', evidence }
        if (sideOf(rule, evidence.looks) === sideOf(rule, evidence.scrapes)) continue
        return areNear(evidence) ? { cause: 'windows', evidence } : undefined
      }
      return undefined
    }
  })
}

/**
 * Two windows that are a poll and the few calls apart that are told late. At the busiest two calls end between a poll and
 * its scrape, and as many drop out at the other end.
 */
const CALLS_APART = 4

function areNear({ looks, scrapes }: Evidence): boolean {
  return Math.abs((looks?.calls ?? 0) - (scrapes?.calls ?? 0)) <= CALLS_APART
}

/** How long ago something may have happened on which a rule's verdict depends, beside the calls of its window (seconds). */
function memoryOf({ signal, keepFiringFor, for: lasting }: Rule): number {
  // With too few calls a firing alert is kept for one window.
  const kept = 'minCalls' in signal ? signal.window : 0
  return lasting + Math.max(keepFiringFor, kept)
}

/** Where a value lies between a rule's limits. */
function sideOf({ breach, threshold, clear }: Rule, reading: Reading | undefined): string | undefined {
  if (reading === undefined || reading.tooFew) return reading && 'too few'
  const isPast = (limit: number) => (breach === 'above' ? reading.value > limit : reading.value < limit)
  return isPast(threshold) ? 'past the threshold' : isPast(clear) ? 'past clear' : 'clear'
}
