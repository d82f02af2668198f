import { knownSince, type LedgerState, type SyncState } from '../ledger/state.ts'
import { usedSince } from '../ledger/usage.ts'
import type { Rule } from './rule.ts'
import { ruleValues, type RuleValue } from './rule-value.ts'
import type { Poll, Tick } from './trigger.ts'

/** The parts of a ledger that rules are evaluated on. */
export type EvaluatedLedger = Pick<
  LedgerState,
  'finished' | 'earlier' | 'usual' | 'open' | 'usage' | 'userMinutes' | 'sync'
>

/**
 * A rule's values as of the last commit: the numbers that its alerts are decided on. A rule that is evaluated between polls, too,
 * has its value of this moment. Empty before the first successful poll.
 *
 * @param now what a rule that is evaluated between polls reads
 */
export function latestValues(rule: Rule, ledger: EvaluatedLedger, now: Omit<Tick, 'kind'>): readonly RuleValue[] {
  const live = ruleValues(rule, { kind: 'tick', ...now }, [])
  if (live !== undefined) return [...live.values()]
  const known = cache.get(ledger.sync) ?? new Map<Rule, readonly RuleValue[]>()
  cache.set(ledger.sync, known)
  const values = known.get(rule) ?? valuesAtLastPoll(rule, ledger)
  known.set(rule, values)
  return values
}

/** Each commit creates a new sync state. */
const cache = new WeakMap<SyncState, Map<Rule, readonly RuleValue[]>>()

function valuesAtLastPoll(rule: Rule, ledger: EvaluatedLedger): readonly RuleValue[] {
  const { finished, earlier, usual, open, sync } = ledger
  const { lastSuccess: now, previousSuccess } = sync
  if (now === undefined) return []
  const poll: Poll = {
    kind: 'poll',
    now,
    previousSuccess,
    limited: false,
    finished,
    open: [...open.values()],
    knownFrom: knownSince(sync),
    created: sync.created,
    earlier,
    usual,
    usedSince: (time, of) => usedSince(ledger, time, of),
  }
  return [...(ruleValues(rule, poll, [])?.values() ?? [])]
}
