import type { Rule } from '../../../src/alerts/rule.ts'
import type { Inhibition } from '../../../src/notifications/delivery/suppress.ts'
import { POLL_AGE, RATIO } from '../../kit/alerts/sample-rules.ts'

/** When every run begins (UNIX seconds). */
export const START = 1_790_000_000
/** Seconds between two polls. */
export const INTERVAL = 15
/** How long the first alert of a group waits (seconds). */
export const GROUP_WAIT = 10

const FAILURES: Rule = {
  ...RATIO,
  signal: { ...RATIO.signal, minCalls: 10 },
  severity: 'critical',
  threshold: 0.26,
  clear: 0.22,
  for: 60,
  keepFiringFor: 60,
}

/** The first two are of one signal. The milder a rule is, the later it fires: what it would be inhibited by fires by then. */
export const FAILURE_RULES: readonly Rule[] = [
  FAILURES,
  {
    ...FAILURES,
    name: 'Elevated',
    severity: 'warning',
    signal: { ...RATIO.signal, minCalls: 5, window: 600 },
    threshold: 0.2,
    clear: 0.16,
    for: 180,
  },
  {
    ...FAILURES,
    name: 'Unanswered',
    severity: 'info',
    signal: { ...RATIO.signal, reason: 'unanswered', minCalls: 3, window: 600 },
    threshold: 0.14,
    clear: 0.1,
    for: 240,
  },
]

/** Fires on a few calls fewer than minutes before, so that it fires in most runs. */
const FEWER_CALLS: Rule = {
  ...RATIO,
  name: 'FewerCalls',
  severity: 'info',
  signal: { name: 'calls_finished', window: 240, relativeTo: 300, minCallsThen: 4 },
  breach: 'below',
  threshold: 0.7,
  clear: 0.9,
  for: 0,
  keepFiringFor: 0,
}

/** Its threshold follows the share of all hours before, so that it differs in each of them. */
const ABOVE_USUAL: Rule = {
  ...RATIO,
  name: 'AboveUsual',
  severity: 'info',
  signal: { ...RATIO.signal, minCalls: 5, window: 300, aboveUsual: 0.04 },
  threshold: 0.01,
  clear: 0,
  for: 0,
  keepFiringFor: 0,
}

export const RULES: readonly Rule[] = [...FAILURE_RULES, POLL_AGE, FEWER_CALLS, ABOVE_USUAL]

/** `notify.inhibit`, and which alerts are not notified while which others fire. */
export type DrawnInhibition = { rules: readonly Inhibition[]; inhibitors: Readonly<Record<string, readonly string[]>> }

const of = (sourceMatch: Inhibition['sourceMatch'], targetMatch: Inhibition['targetMatch']): Inhibition => {
  return { sourceMatch, targetMatch, equal: ['target'] }
}

/** What there is beside the severities of one signal. */
export const INHIBITIONS: readonly DrawnInhibition[] = [
  { rules: [], inhibitors: { Elevated: ['HighFailureRate'] } },
  {
    rules: [of({ alert: 'HighFailureRate' }, { alert: 'Unanswered' })],
    inhibitors: { Elevated: ['HighFailureRate'], Unanswered: ['HighFailureRate'] },
  },
  {
    // Also while it is inhibited itself.
    rules: [of({ severity: 'warning' }, { severity: 'info' })],
    inhibitors: { Elevated: ['HighFailureRate'], Unanswered: ['Elevated'] },
  },
  {
    // Of two that would inhibit each other none does.
    rules: [
      of({ alert: 'Elevated' }, { alert: 'HighFailureRate' }),
      of({ alert: 'Unanswered' }, { alert: 'Elevated' }),
    ],
    inhibitors: { Elevated: ['Unanswered'] },
  },
]
