import type { Rule } from '../../src/alerts/rule.ts'
import { POLL_AGE, RATIO } from '../alerts/sample-rules.ts'

/** When every run begins (UNIX seconds). */
export const START = 1_790_000_000
/** Seconds between two polls. */
export const INTERVAL = 15

export const RULES: readonly [Rule, Rule] = [
  {
    ...RATIO,
    signal: { ...RATIO.signal, minCalls: 10 },
    severity: 'critical',
    threshold: 0.26,
    clear: 0.22,
    for: 60,
    keepFiringFor: 60,
  },
  POLL_AGE,
]
