import { countWindow, failureRatio, type Judged } from '../ledger/failure-ratio.ts'
import type { FinishedCalls, FinishedCounts } from '../ledger/finished-calls.ts'
import type { Rule } from './rule.ts'

/** What a rule judges by: a good look, or a tick between looks, at which only the age of the last look is known. */
export type Occasion =
  | { kind: 'look'; finished: FinishedCalls; judged: Judged; pollAge: number }
  | { kind: 'tick'; /** Seconds since the last good look. */ pollAge: number }

/** A rule's value at one moment. */
export type Reading = {
  /** A ratio from 0 to 1, or seconds; NaN where there is nothing to divide by. */
  value: number
  /** The finished calls behind a ratio, by status. */
  counts: FinishedCounts | undefined
  /** Whether there were too few calls to say anything. */
  tooFew: boolean
}

/** What a rule reads on this occasion; undefined where the occasion says nothing about it. */
export function read(rule: Rule, occasion: Occasion): Reading | undefined {
  if (rule.signal === 'poll_age') return { value: occasion.pollAge, counts: undefined, tooFew: false }
  if (occasion.kind !== 'look') return undefined
  const counts = countWindow(occasion.finished, rule.window, occasion.judged)
  return { value: failureRatio(counts, rule.reason), counts, tooFew: counts.total < Math.max(1, rule.minCalls) }
}
