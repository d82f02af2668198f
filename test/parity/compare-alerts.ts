import type { RuleValue } from '../../src/alerts/rule-value.ts'
import type { Rule } from '../../src/alerts/rule.ts'
import { CLOSED, isIn } from './episodes.ts'
import { evaluateAtScrapes } from './evaluate-at-scrapes.ts'
import type { FiringAlerts } from './evaluate-with-promtool.ts'
import type { Scrape } from './polled-history.ts'

/**
 * Why the alerts differ.
 *
 * - `timers`: the values are the same, but Prometheus measures durations between scrapes, and callwatch between polls,
 *   whose ends vary; the age of the last successful poll is also measured at different times
 * - `windows`: callwatch counts a call when it ended, Prometheus when a scrape first shows it as finished
 * - `polls`: callwatch does not evaluate after a failed poll, Prometheus continues until its data are too old
 * - `down`: the daemon is down; for Prometheus its targets are without a successful poll
 * - `UNEXPLAINED`: none of these
 */
export const CAUSES = ['timers', 'windows', 'polls', 'down', 'UNEXPLAINED'] as const
export type Cause = (typeof CAUSES)[number]

/** Consecutive evaluations that differ in the same way for the same cause. */
export type Difference = {
  alert: string
  /** The first evaluation, in seconds since the start of the history. */
  at: number
  evaluations: number
  firesIn: 'callwatch' | 'prometheus'
  cause: Cause
  evidence: Evidence | undefined
}

/** The evaluation that caused the difference, with the value of each side; undefined for no evaluation. */
export type Evidence = { at: number; callwatch: RuleValue | undefined; prometheus: RuleValue | undefined }

/** The comparison for one rule: the number of evaluations, how many fire on both sides, and the differences. */
export type Comparison = { alert: string; compared: number; bothFiring: number; differences: Difference[] }

/**
 * Compares the firing alerts of callwatch and Prometheus at each evaluation. A difference has a cause only if callwatch's
 * own code agrees with Prometheus once it differs from callwatch in that one respect, at exactly this evaluation. For
 * `windows` and `polls` there must also be an evaluation that caused the difference, within the memory of the rule.
 *
 * @param interval seconds between two scrapes
 */
export function compareAlerts(
  rules: readonly Rule[],
  scrapes: readonly Scrape[],
  prometheus: FiringAlerts,
  interval: number,
): Comparison[] {
  return rules.map((rule) => {
    const alert = rule.name
    const byPolls = evaluateAtScrapes(rule, scrapes, 'polls', interval)
    const byScrapes = evaluateAtScrapes(rule, scrapes, 'scrapes', interval)
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
      const continues = last?.firesIn === firesIn && last.at + last.evaluations * interval === scrape.at
      const asByPolls = byPolls[i]!.firing === inPrometheus
      const asByScrapes = byScrapes[i]!.firing === inPrometheus
      if (continues && (last.cause === 'timers' ? asByPolls : last.cause !== 'UNEXPLAINED' && asByScrapes)) {
        last.evaluations += 1
        continue
      }
      const found = asByPolls ? { cause: 'timers' as const } : asByScrapes ? causeAt(i) : undefined
      const { cause, evidence } = { cause: 'UNEXPLAINED' as const, evidence: undefined, ...found }
      if (continues && last.cause === cause) last.evaluations += 1
      else differences.push({ alert, at: scrape.at, evaluations: 1, firesIn, cause, evidence })
    }
    return comparison

    /** The latest evaluation whose basis differed between callwatch and Prometheus. */
    function causeAt(until: number): { cause: Cause; evidence?: Evidence } | undefined {
      if (!scrapes[until]!.up) return { cause: 'down' }
      for (let i = until; i >= Math.max(0, until - Math.ceil(memoryOf(rule) / interval) - 1); i--) {
        const { at, poll } = scrapes[i]!
        const evidence = { at, callwatch: poll && byPolls[i]!.ruleValue, prometheus: byScrapes[i]!.ruleValue }
        if (poll === undefined) return { cause: 'polls', evidence }
        if (sideOf(rule, evidence.callwatch) === sideOf(rule, evidence.prometheus)) continue
        return areNear(evidence) ? { cause: 'windows', evidence } : undefined
      }
      return undefined
    }
  })
}

/**
 * The number of calls by which two windows may differ, because they end at a poll and at a scrape. At the busiest hour two
 * calls end between a poll and its scrape, and as many leave the window at its start.
 */
const MAX_CALLS_APART = 4

function areNear({ callwatch, prometheus }: Evidence): boolean {
  return Math.abs((callwatch?.calls ?? 0) - (prometheus?.calls ?? 0)) <= MAX_CALLS_APART
}

/** How long earlier evaluations influence a rule, in addition to its window (seconds). */
function memoryOf({ signal, keepFiringFor, for: lasting }: Rule): number {
  // With too few calls an alert keeps firing for one window.
  const kept = 'minCalls' in signal ? signal.window : 0
  return lasting + Math.max(keepFiringFor, kept)
}

/** On which side of a rule's limits a value is. */
function sideOf({ breach, threshold, clear }: Rule, ruleValue: RuleValue | undefined): string | undefined {
  if (ruleValue === undefined || ruleValue.tooFew) return ruleValue && 'too few'
  const isBeyond = (limit: number) => (breach === 'above' ? ruleValue.value > limit : ruleValue.value < limit)
  return isBeyond(threshold) ? 'beyond the threshold' : isBeyond(clear) ? 'not cleared' : 'clear'
}
