import { read } from '../alerts/reading.ts'
import type { Rule } from '../alerts/rule.ts'
import type { LedgerState } from '../ledger/state.ts'

/** What a target's rules are judged by. */
type Judged = Pick<LedgerState, 'finished' | 'facts'>

/** A rule in `/api/v1/status`: what its alerts go by. Durations and windows are seconds. */
export function ruleView(rule: Rule, ledger: Judged) {
  const { name, severity, signal, breach, threshold, clear, match, by } = rule
  return {
    name,
    severity,
    signal: signal.name,
    breach,
    threshold,
    clear,
    match,
    by,
    ...('window' in signal ? { window_seconds: signal.window } : {}),
    ...('reason' in signal ? { reason: signal.reason } : {}),
    ...('minCalls' in signal ? { min_calls: signal.minCalls } : {}),
    ...('limit' in signal ? { limit: signal.limit, timezone: signal.timezone } : {}),
    ...('longerThan' in signal ? { longer_than_seconds: signal.longerThan } : {}),
    ...(signal.name === 'failure_ratio' ? { readings: readingsOf(rule, ledger) } : {}),
  }
}

/** The ratios of a rule's calls at the last good look, by its labels; null where there were too few calls for one. */
function readingsOf(rule: Rule, { finished, facts }: Judged) {
  const { lastGood: now = 0, previousGood } = facts
  const judged = { now, previousGood }
  const look = { kind: 'look', judged, limited: false, finished, open: [], created: 0, usedSince: () => 0 } as const
  const readings = read(rule, look, () => ({ from: now, to: now }), [])
  return Array.from(readings?.values() ?? [], ({ labels, value, calls = 0, tooFew }) => ({
    labels,
    value: tooFew ? null : value,
    calls,
  }))
}
