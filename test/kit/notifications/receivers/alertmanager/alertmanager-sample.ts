import type { AlertInstance } from '../../../../../src/alerts/alert-instance.ts'
import type { Rule } from '../../../../../src/alerts/rule.ts'
import type { LiveAlert } from '../../../../../src/alerts/alert.ts'

/** A rule that most of what fires here is of. */
export const FAILURES: Rule = {
  name: 'HighFailureRate',
  signal: { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 },
  severity: 'critical',
  breach: 'above',
  threshold: 0.3,
  clear: 0.2,
  match: {},
  by: [],
  for: 120,
  keepFiringFor: 300,
  repeat: 0,
  runbookUrl: 'https://runbooks.test/failures',
  description: 'Many of the calls of the last {window} failed. Ask the carrier.',
}

/** An instance that has been firing since that moment (UNIX seconds), of the target `production`. */
export function firingSince(firing: number, { rule = {}, ...given }: Differing = {}): LiveAlert {
  const ofRule = { ...FAILURES, ...rule }
  const instance: AlertInstance = {
    key: ofRule.name,
    labels: {},
    rule: ofRule,
    state: 'firing',
    since: firing - ofRule.for,
    firingSince: firing,
    credited: 0,
    evaluatedAt: firing,
    value: 0.425,
    peak: 0.5,
    calls: 40,
    counts: { ended: 23, unanswered: 5, rejected: 12, canceled: 0, other: 0, total: 40 },
    tooFewSince: undefined,
    ...given,
  }
  return { target: 'production', instance }
}

export type Differing = Partial<Omit<AlertInstance, 'rule'>> & { rule?: Partial<Rule> }
