import type { AlertInstance } from '../../src/alerts/alert-instance.ts'
import { evaluate } from '../../src/alerts/evaluate.ts'
import { ruleValues, type RuleValue } from '../../src/alerts/rule-value.ts'
import type { Poll, Trigger } from '../../src/alerts/trigger.ts'
import type { Rule } from '../../src/alerts/rule.ts'
import { windowOf } from '../../src/alerts/signal.ts'
import { monthOf } from '../../src/clock/calendar.ts'
import { keptFinishes } from '../../src/ledger/finished-calls.ts'
import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { CREATED } from '../ledger/seen.ts'
import type { Scrape } from './polled-history.ts'

/** The result of callwatch's own code for a rule at a scrape. */
export type AtScrape = {
  firing: boolean
  /** The value that the rule was evaluated on; undefined for rules that are not about finished calls. */
  ruleValue: RuleValue | undefined
}

/**
 * The data that a rule is evaluated on. `polls`, as in callwatch: calls by the time when they ended, at each successful
 * poll. `scrapes`, as in Prometheus: calls by the scrape that first counted them, at each scrape until the data of the
 * target are too old.
 */
export type Basis = 'polls' | 'scrapes'

const OLDEST = 'callwatch_oldest_open_call_timestamp_seconds'
const POLLED = 'callwatch_poll_last_success_timestamp_seconds'
/** As in the rules for Prometheus: after so many intervals without a successful poll the data are too old. */
const STALE_AFTER_INTERVALS = 4

/**
 * Evaluates a rule with callwatch's own code, but at the times of the scrapes. Where callwatch and Prometheus differ, and
 * this agrees with Prometheus, the basis of the evaluation is the only cause.
 *
 * @param interval seconds between two scrapes
 */
export function evaluateAtScrapes(rule: Rule, scrapes: readonly Scrape[], basis: Basis, interval: number): AtScrape[] {
  const instances = new Map<string, AlertInstance>()
  const finished = keptFinishes()
  // Before the first successful poll the age counts from the set-up, which was before the first scrape.
  let polled = -1
  let ruleValue: RuleValue | undefined
  return scrapes.map((scrape): AtScrape => {
    const { at, up, poll } = scrape
    const now = CREATED + at
    polled = valueOf(scrape, POLLED) ?? polled
    const age = at - polled
    if (poll !== undefined) {
      // A second before the scrape: `increase` does not include what the first sample of its window has counted.
      const ends = basis === 'polls' ? poll.finishes : poll.finishes.map((finish) => ({ ...finish, at: now - 1 }))
      for (const end of ends) finished.add(end)
    }
    const trigger = triggerAt()
    if (trigger !== undefined) {
      const delta = evaluate(instances, trigger, { target: 'production', rules: [rule], now, interval, monthOf })
      for (const instance of delta.changed) instances.set(instance.key, instance)
      for (const { key } of delta.ended) instances.delete(key)
      if (trigger.kind === 'poll') ruleValue = ruleValueOf(rule, trigger)
    }
    return { firing: [...instances.values()].some(({ state }) => state !== 'pending'), ruleValue }

    function triggerAt(): Trigger | undefined {
      if (rule.signal.name === 'poll_age') return up || basis === 'scrapes' ? { kind: 'tick', pollAge: age } : undefined
      const open = [...scrape.series].flatMap(([name, oldest]) =>
        name.startsWith(`${OLDEST}{`) ? [openSince(CREATED + oldest, name)] : [],
      )
      const seen = { kind: 'poll', limited: false, created: 0, usedSince: () => 0, finished, open } as const
      if (basis === 'polls') return poll && { ...seen, now: poll.now, previousSuccess: poll.previousSuccess }
      // After a failed scrape a gauge is stale at once; an increase over a window is not.
      const isFresh = age <= STALE_AFTER_INTERVALS * interval && (up || windowOf(rule.signal) !== undefined)
      return isFresh ? { ...seen, now, previousSuccess: undefined } : undefined
    }
  })
}

function ruleValueOf(rule: Rule, poll: Poll): RuleValue | undefined {
  if (windowOf(rule.signal) === undefined) return undefined
  return ruleValues(rule, poll, monthOf, [])?.get(rule.name)
}

function valueOf({ series }: Scrape, metric: string): number | undefined {
  for (const [name, value] of series) if (name.startsWith(`${metric}{`)) return value
  return undefined
}

/** The oldest open call with the labels of a series. */
function openSince(initiatedAt: number, series: string): TrackedCall {
  const [type, mode, receiverType] = ['type', 'mode', 'receiver_type'].map(
    (label) => new RegExp(`\\b${label}="([^"]*)"`).exec(series)?.[1],
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- rules about open calls read only these
  return { initiatedAt, labels: { type, mode, receiverType } } as TrackedCall
}
