import { evaluate, type AlertDelta, type WorstValues } from '../alerts/evaluate.ts'
import type { EvaluationRecord, Poll, Tick, Trigger } from '../alerts/trigger.ts'
import { UNSEEN_INTERVALS } from '../clock/intervals.ts'
import { wholeMilliseconds } from '../clock/times.ts'
import { newDraft } from '../ledger/delta/delta-draft.ts'
import { withFinishes } from '../ledger/finished-calls.ts'
import { summedWith } from '../ledger/summed-calls.ts'
import { knownSince, type Delta, type LedgerState } from '../ledger/state.ts'
import { computeDelta, type EvictedCalls } from '../ledger/delta/compute-delta.ts'
import type { Observation, PollSuccess } from '../ledger/observation.ts'
import { usedSince } from '../ledger/usage.ts'
import type { Target } from './target.ts'

/** What an observation or a tick changes, and the values that the rules had. */
export type Decision = { ledger: Delta; alerts: AlertDelta; evaluated?: EvaluationRecord; worst?: WorstValues }

type DecidedFor = Pick<Target, 'name' | 'ledger' | 'alerts' | 'settings'>

/**
 * Computes what an observation changes of the calls, and at the end of a poll of the alerts. Pure.
 *
 * @param evicted the evicted calls of the sessions that the observation shows
 * @param wall the host's clock (UNIX seconds)
 * @returns undefined if nothing changed
 */
export function decide(
  target: DecidedFor,
  observation: Observation,
  evicted: EvictedCalls | undefined,
  wall: number,
): Decision | undefined {
  const delta = computeDelta(target.ledger, observation, target.settings.poll, evicted)
  if (delta === undefined) return undefined
  if (observation.success === undefined) return { ledger: delta, alerts: { changed: [], ended: [], notifications: [] } }
  const poll = evaluatedPoll(target.ledger, delta, observation.success)
  const at = wholeMilliseconds(wall)
  const { kind, now, previousSuccess, limited } = poll
  const evaluated: EvaluationRecord = { kind, at, now, previousSuccess, limited }
  const { worst, ...alerts } = evaluateRules(target, poll, at)
  return { ledger: delta, alerts, evaluated, worst }
}

/**
 * Computes what the passing of time changes of the alerts, and the values that it gives the rules. Pure.
 *
 * @param polls how long ago the last successful poll was (seconds), why the last poll failed, and what happened since then
 * @param wall the host's clock (UNIX seconds)
 */
export function decideTick(
  target: DecidedFor,
  { pollAge, cause, recent }: Omit<Tick, 'kind'>,
  wall: number,
): { worst: WorstValues; decision: Decision | undefined } {
  const age = wholeMilliseconds(pollAge)
  const at = wholeMilliseconds(wall)
  const { lastSuccessHostTime: lastPoll } = target.ledger.sync
  const { worst, ...alerts } = evaluateRules(target, { kind: 'tick', pollAge: age, cause, lastPoll, recent }, at)
  // Kept even if it changes no alert: a backtest may try a rule that fires on it.
  const hasChanges = alerts.changed.length + alerts.ended.length > 0
  if (!hasChanges && age <= UNSEEN_INTERVALS * target.settings.poll.interval) return { worst, decision: undefined }
  const evaluated = { kind: 'tick' as const, at, pollAge: age }
  return { worst, decision: { ledger: newDraft(target.ledger.sync).delta, alerts, evaluated } }
}

function evaluateRules({ name, alerts, settings }: DecidedFor, trigger: Trigger, now: number) {
  const { rules, poll } = settings
  return evaluate(alerts, trigger, { target: name, rules, now, interval: poll.interval })
}

/** What rules evaluate after a successful poll, before it is committed. */
function evaluatedPoll(ledger: LedgerState, delta: Delta, { serviceTime, limited = false }: PollSuccess): Poll {
  const { earlier, sync } = ledger
  const unchanged = [...ledger.open.values()].filter(({ id }) => !delta.calls.has(id))
  const changed = [...delta.calls.values()].filter(({ phase }) => phase === 'open')
  return {
    kind: 'poll',
    // Not rounded. Otherwise a call that finished just now could be after the end of the window.
    now: serviceTime,
    previousSuccess: sync.lastSuccess,
    limited,
    finished: withFinishes(ledger.finished, delta.finishes, delta.changedFinishes),
    open: [...unchanged, ...changed],
    knownFrom: knownSince(delta.sync),
    created: delta.sync.created,
    earlier: earlier && { ...earlier, finished: withFinishes(earlier.finished, delta.finishes, delta.changedFinishes) },
    usual: ledger.usual.map((summed) => summedWith(summed, delta.finishes, delta.changedFinishes)),
    usedSince: (time, of) => usedSince(ledger, time, of) + usedSince(delta, time, of),
  }
}
