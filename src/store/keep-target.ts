import type { AlertInstance } from '../alerts/alert-instance.ts'
import { evaluate, type AlertDelta } from '../alerts/evaluate.ts'
import type { Occasion } from '../alerts/reading.ts'
import type { Rule } from '../alerts/rule.ts'
import type { Clock } from '../clock/clock.ts'
import { newDraft } from '../ledger/delta-draft.ts'
import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
import { withFinished } from '../ledger/finished-calls.ts'
import { apply, type Delta, type LedgerState } from '../ledger/state.ts'
import { step, type LedgerOptions, type Observation } from '../ledger/step.ts'
import type { Commit, Store, TargetIdentity } from './store.ts'

export type KeepTargetOptions = {
  store: Store
  clock: Clock
  identity: TargetIdentity
  ledger: LedgerOptions
  rules: readonly Rule[]
  /** Seconds between two evaluations, as they should come. */
  interval: number
}

/** What was just committed of a target. */
export type Committed = Commit & { target: string; seconds: number }

/** One target's committed state, and the only two ways to move it on. */
export type TargetKeeper = {
  readonly target: string
  readonly ledger: LedgerState
  readonly alerts: ReadonlyMap<string, AlertInstance>
  readonly rules: readonly Rule[]
  /** Seconds since the last good look, by the monotonic clock; since the set-up before the first. */
  lookAge: () => number
  /** Seconds since the last whole look began; undefined before the first. */
  sweepAge: () => number | undefined
  /** Counts what was seen. Resolves with what was committed; rejects with a StoreError, and then nothing has changed. */
  fold: (observation: Observation) => Promise<Committed | undefined>
  /** Judges the rules that go by time alone. */
  tick: () => Promise<Committed | undefined>
}

/**
 * Opens a target in the store and keeps it: observation by observation a pure step, one atomic commit, and only then
 * the new state. One after the other, whoever asks.
 */
export async function keepTarget(options: KeepTargetOptions): Promise<TargetKeeper> {
  const { store, clock, identity, rules, interval } = options
  const target = identity.name
  const windows = rules.flatMap((rule) => (rule.signal === 'failure_ratio' ? [rule.window] : []))
  const keepFinished = Math.max(...Object.values(EXPORTED_WINDOWS), ...windows)
  const { ledger, alerts } = await store.openTarget(identity, clock.wall(), keepFinished)

  const ageAtStart = Math.max(0, clock.wall() - (ledger.facts.lastGoodHost ?? ledger.facts.created))
  let goodAt = clock.monotonic() - ageAtStart
  const lookAge = () => clock.monotonic() - goodAt
  const { lastComplete } = ledger.facts
  let sweptAt = lastComplete === undefined ? undefined : clock.monotonic() - Math.max(0, clock.wall() - lastComplete)

  async function commit(delta: Delta, alertDelta: AlertDelta): Promise<Committed> {
    const begun = clock.monotonic()
    await store.commit(target, { ledger: delta, alerts: alertDelta })
    const seconds = clock.monotonic() - begun
    apply(ledger, delta, keepFinished)
    for (const instance of alertDelta.changed) alerts.set(instance.rule.name, instance)
    for (const { rule } of alertDelta.ended) alerts.delete(rule.name)
    return { target, ledger: delta, alerts: alertDelta, seconds }
  }

  const judge = (occasion: Occasion) => evaluate(alerts, occasion, { target, rules, now: clock.wall(), interval })
  const inTurn = oneAtATime()
  return {
    target,
    ledger,
    alerts,
    rules,
    lookAge,
    sweepAge: () => (sweptAt === undefined ? undefined : clock.monotonic() - sweptAt),
    fold: (observation) =>
      inTurn(async () => {
        const delta = step(ledger, observation, options.ledger)
        if (delta === undefined) return undefined
        if (observation.end === undefined) return commit(delta, { changed: [], ended: [], notifications: [] })
        const finished = withFinished(ledger.finished, delta.finishes, 0)
        const judged = { now: observation.end.now, previousGood: delta.facts.previousGood }
        const committed = await commit(delta, judge({ kind: 'look', finished, judged, pollAge: 0 }))
        goodAt = clock.monotonic()
        const { whole, began, now } = observation.end
        if (whole) sweptAt = goodAt - Math.max(0, now - began)
        return committed
      }),
    tick: () =>
      inTurn(async () => {
        const alertDelta = judge({ kind: 'tick', pollAge: lookAge() })
        const changed = alertDelta.changed.length + alertDelta.ended.length > 0
        return changed ? commit(newDraft(ledger.facts).delta, alertDelta) : undefined
      }),
  }
}

/** Runs what it is given one after the other, in the order in which it was asked. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}
