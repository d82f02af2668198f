import type { Notification } from '../../../src/alerts/notification.ts'
import { defaultRules } from '../../../src/alerts/default-rules.ts'
import { ruleSchema, type Rule } from '../../../src/alerts/rule.ts'
import type { Signal } from '../../../src/alerts/signals.ts'
import type { FinalStatus, Labels } from '../../../src/ledger/call.ts'
import { labelsOf } from '../../../src/ledger/call.ts'
import type { Finish } from '../../../src/ledger/tracked-call.ts'

/** A rule on any signal, which breaches above 0.3 unless said otherwise. */
export function ruleOn<S extends Signal>(signal: S, differing: Partial<Rule> = {}) {
  const threshold = differing.threshold ?? 0.3
  const rule = {
    name: 'HighFailureRate',
    severity: 'warning',
    breach: 'above',
    threshold,
    clear: threshold,
    match: {},
    by: [],
    for: 0,
    keepFiringFor: 0,
    repeat: 0,
    ...differing,
  } satisfies Omit<Rule, 'signal'>
  return { ...rule, signal }
}

export const RATIO = ruleOn({ name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 }, { clear: 0.2 })

export const POLL_AGE = ruleOn({ name: 'poll_age' }, { name: 'NoGoodPoll', severity: 'critical', threshold: 300 })

/** The rules of a configuration without `alerts`. */
export function shippedRules(): Rule[] {
  return defaultRules.map((rule) => ruleSchema.parse(rule))
}

/** How a call finished at a moment (UNIX seconds), known at once. */
export function finishAt(at: number, status: FinalStatus = 'ended', differing: Partial<Finish> = {}): Finish {
  const labels: Labels = labelsOf('audio', 'call', 'user')
  const unanswered = { answerDelay: undefined, duration: undefined }
  return {
    at,
    status,
    labels,
    known: at,
    knownHostTime: at,
    began: at - 60,
    ...unanswered,
    audio: 0,
    video: 0,
    invited: undefined,
    ...differing,
  }
}

/** What is said when the sample rule fires. */
export function firingOf(rule: Rule, target: string, at: number, differing: Partial<Notification> = {}): Notification {
  const { name: alert, ...own } = rule
  return {
    ...own,
    kind: 'firing',
    target,
    key: alert,
    alert,
    labels: {},
    value: 0.5,
    since: at,
    firingSince: at,
    peak: 0.5,
    at,
    ...differing,
  }
}
