import { evaluate, type AlertDelta } from '../alerts/evaluate.ts'
import type { EvaluationRecord, Poll, Trigger } from '../alerts/trigger.ts'
import { monthOf } from '../clock/calendar.ts'
import { wholeMilliseconds } from '../clock/whole-milliseconds.ts'
import { newDraft } from '../ledger/delta/delta-draft.ts'
import { withFinishes } from '../ledger/finished-calls.ts'
import type { Delta, LedgerState } from '../ledger/state.ts'
import { computeDelta } from '../ledger/delta/compute-delta.ts'
import type { Observation, PollSuccess } from '../ledger/observation.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { usedBetween } from '../ledger/usage.ts'
import type { Target } from './target.ts'

/** What an observation or a tick changes. */
export type Decision = { ledger: Delta; alerts: AlertDelta; evaluated?: EvaluationRecord }

type Decided = Pick<Target, 'name' | 'ledger' | 'alerts' | 'settings'>

/** A poll age of more intervals than this is kept in the log of evaluations. */
const NOTED_INTERVALS = 2

/**
 * What an observation changes of the calls, and, where a poll has ended, of the alerts. Pure.
 *
 * @param evicted rows of calls that the observation shows and that were evicted, by id
 * @param wall the host's clock (UNIX seconds)
 * @returns undefined where nothing changed
 */
export function decide(
  target: Decided,
  observation: Observation,
  evicted: ReadonlyMap<string, TrackedCall> | undefined,
  wall: number,
): Decision | undefined {
  const delta = computeDelta(target.ledger, observation, target.settings.poll, evicted)
  if (delta === undefined) return undefined
  if (observation.success === undefined) return { ledger: delta, alerts: { changed: [], ended: [], notifications: [] } }
  const poll = evaluatedPoll(target.ledger, delta, observation.success)
  const at = wholeMilliseconds(wall)
  const { kind, now, previousSuccess, limited } = poll
  const evaluated: EvaluationRecord = { kind, at, now, previousSuccess, limited }
  return { ledger: delta, alerts: evaluateRules(target, poll, at), evaluated }
}

/**
 * What the mere passing of time changes of the alerts. Pure.
 *
 * @param polls how long ago the last successful one was (seconds), and why the last one was not
 * @param wall the host's clock (UNIX seconds)
 */
export function decideTick(
  target: Decided,
  { pollAge, cause }: { pollAge: number; cause?: string | undefined },
  wall: number,
): Decision | undefined {
  const age = wholeMilliseconds(pollAge)
  const at = wholeMilliseconds(wall)
  const alerts = evaluateRules(target, { kind: 'tick', pollAge: age, ...(cause !== undefined && { cause }) }, at)
  // What a tick saw of a failing service is kept also where no rule minds: a backtest may try one that does.
  const hasChanges = alerts.changed.length + alerts.ended.length > 0
  if (!hasChanges && age <= NOTED_INTERVALS * target.settings.poll.interval) return undefined
  return { ledger: newDraft(target.ledger.sync).delta, alerts, evaluated: { kind: 'tick', at, pollAge: age } }
}

function evaluateRules({ name, alerts, settings }: Decided, trigger: Trigger, now: number): AlertDelta {
  const { rules, poll } = settings
  return evaluate(alerts, trigger, { target: name, rules, now, interval: poll.interval, monthOf })
}

/** What rules evaluate of a successful poll, before it is committed. */
function evaluatedPoll(ledger: LedgerState, delta: Delta, { serviceTime, limited = false }: PollSuccess): Poll {
  const { lastSuccess } = ledger.sync
  const unchanged = [...ledger.open.values()].filter(({ id }) => !delta.calls.has(id))
  const changed = [...delta.calls.values()].filter(({ phase }) => phase === 'open')
  return {
    kind: 'poll',
    // Not rounded here, or a call that finished at this very moment could be past the end of the window.
    now: serviceTime,
    previousSuccess: lastSuccess,
    limited,
    finished: withFinishes(ledger.finished, delta.finishes),
    open: [...unchanged, ...changed],
    created: ledger.sync.created,
    usedSince: (time) => usedBetween(ledger.usage, time, Infinity) + usedBetween(delta.usage, time, Infinity),
  }
}
