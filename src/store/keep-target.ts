import type { AlertInstance } from '../alerts/alert-instance.ts'
import { evaluate, type AlertDelta } from '../alerts/evaluate.ts'
import type { Evaluated } from '../alerts/evaluated.ts'
import { reachOf } from '../alerts/evidence.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Look, Occasion } from '../alerts/reading.ts'
import type { Rule } from '../alerts/rule.ts'
import { monthOf } from '../clock/calendar.ts'
import type { Clock } from '../clock/clock.ts'
import { newDraft } from '../ledger/delta-draft.ts'
import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
import { withFinishes } from '../ledger/finished-calls.ts'
import { apply, type Delta, type Facts, type LedgerState } from '../ledger/state.ts'
import { step, unknownIds, type GoodLook, type LedgerOptions, type Observation } from '../ledger/step.ts'
import { usedBetween } from '../ledger/usage.ts'
import { StoreError, type Commit, type Store, type TargetIdentity } from './store.ts'

export type KeepTargetOptions = {
  store: Store
  clock: Clock
  identity: TargetIdentity
  ledger: LedgerOptions
  rules: readonly Rule[]
  /** The notifiers that are to tell a change. */
  route: Route
  /** Seconds between two evaluations, as they should come. */
  interval: number
}

/** Who is to tell a change of an alert, by name. */
export type Route = (change: Notification) => readonly string[]

/** A poll age of more intervals than this is kept in the log of evaluations. */
const NOTED_INTERVALS = 2

/** So many intervals a first look may take before its target counts as not polled. */
const FIRST_LOOK_INTERVALS = 2

/** What was just committed of a target. */
export type Committed = Pick<Commit, 'ledger' | 'alerts'> & { target: string; seconds: number }

/** One target's committed state, and the only ways to move it on: what was seen, time, and what others committed. */
export type TargetKeeper = {
  readonly target: string
  readonly ledger: LedgerState
  readonly alerts: ReadonlyMap<string, AlertInstance>
  readonly rules: readonly Rule[]
  /** Seconds since the last good look, by the monotonic clock; since the set-up before the first. */
  lookAge: () => number
  /** Seconds since the last whole look began; undefined before the first. */
  sweepAge: () => number | undefined
  /** Seconds since the rules were last judged; since the start before. */
  judgedAge: () => number
  /** Counts what was seen. Resolves with what was committed; rejects with a StoreError, and then nothing has changed. */
  fold: (observation: Observation) => Promise<Committed | undefined>
  /** Judges the rules that go by time alone. */
  tick: () => Promise<Committed | undefined>
  /** It is watched by this process from now on, after another one: until it has looked, the pause in between tells nothing. */
  beginAnew: () => void
  /** Whether the answer to the last commit was lost: until it is known what was committed, nothing more is. */
  isUnsure: () => boolean
  /** Moves on by what was committed of the target elsewhere, or without an answer; returns what was new of it. */
  follow: (commits: readonly Pick<Commit, 'ledger' | 'alerts'>[]) => Promise<Committed[]>
}

/**
 * Opens a target in the store and keeps it: observation by observation a pure step, one atomic commit, and only then
 * the new state. One after the other, whoever asks.
 */
export async function keepTarget(options: KeepTargetOptions): Promise<TargetKeeper> {
  const { store, clock, identity, rules, interval } = options
  const target = identity.name
  const keepFinished = Math.max(...Object.values(EXPORTED_WINDOWS), ...rules.map(reachOf))
  const { ledger, alerts } = await store.openTarget(identity, clock.wall(), keepFinished)

  const agoBy = (time: number) => clock.monotonic() - Math.max(0, clock.wall() - time)
  /** When the last good look ended, and the last whole one began, by the monotonic clock, as far as the facts tell. */
  const looksBy = ({ lastGoodHost, created, lastComplete }: Facts) => ({
    good: agoBy(lastGoodHost ?? created),
    swept: lastComplete === undefined ? undefined : agoBy(lastComplete),
  })
  let { good: goodAt, swept: sweptAt } = looksBy(ledger.facts)
  const lookAge = () => clock.monotonic() - goodAt
  let isUnsure = false

  async function commit(delta: Delta, alertDelta: AlertDelta, evaluated?: Evaluated): Promise<Committed> {
    if (isUnsure)
      throw new StoreError(
        'unavailable',
        `it is not known yet what was last committed of target ${target}: the store has not answered`,
      )
    const begun = clock.monotonic()
    const outgoing = alertDelta.notifications.map((change) => ({ change, to: options.route(change) }))
    const whole = { ledger: delta, alerts: alertDelta, outgoing, ...(evaluated && { evaluated }) }
    try {
      await store.commit(target, whole)
    } catch (error) {
      isUnsure = store.sharing !== undefined
      throw error
    }
    moveOn(whole)
    return { target, ...whole, seconds: clock.monotonic() - begun }
  }

  function moveOn({ ledger: delta, alerts: { changed, ended } }: Pick<Commit, 'ledger' | 'alerts'>): void {
    apply(ledger, delta, keepFinished)
    for (const instance of changed) alerts.set(instance.key, instance)
    for (const { key } of ended) alerts.delete(key)
  }

  let begunAt = clock.monotonic()
  let judgedAt = begunAt
  let hasLooked = false
  const judge = (occasion: Occasion, at: number) =>
    evaluate(alerts, occasion, { target, rules, now: at, interval, monthOf })
  const inTurn = oneAtATime()
  return {
    target,
    ledger,
    alerts,
    rules,
    lookAge,
    judgedAge: () => clock.monotonic() - judgedAt,
    sweepAge: () => (sweptAt === undefined ? undefined : clock.monotonic() - sweptAt),
    fold: (observation) =>
      inTurn(async () => {
        const unknown = unknownIds(ledger, observation, options.ledger)
        const evicted = unknown.length === 0 ? undefined : await store.evictedCalls(target, unknown)
        const delta = step(ledger, observation, options.ledger, evicted)
        if (delta === undefined) return undefined
        if (observation.end === undefined) return commit(delta, { changed: [], ended: [], notifications: [] })
        const look = lookAfter(ledger, delta, observation.end)
        const { judged, limited } = look
        const at = wholeMilliseconds(clock.wall())
        const committed = await commit(delta, judge(look, at), { kind: 'look', at, limited, ...judged })
        hasLooked = true
        goodAt = clock.monotonic()
        judgedAt = goodAt
        const { whole, began, now } = observation.end
        if (whole) sweptAt = goodAt - Math.max(0, now - began)
        return committed
      }),
    tick: () =>
      inTurn(async () => {
        // A process that has just begun is about to look: it is not to tell of a poll age that the pause before it made.
        if (!hasLooked && clock.monotonic() - begunAt < FIRST_LOOK_INTERVALS * interval) return undefined
        const pollAge = wholeMilliseconds(lookAge())
        const at = wholeMilliseconds(clock.wall())
        const alertDelta = judge({ kind: 'tick', pollAge }, at)
        // What a tick saw of a failing service is kept also where no rule minds: a backtest may try one that does.
        const changed = alertDelta.changed.length + alertDelta.ended.length > 0 || pollAge > NOTED_INTERVALS * interval
        const committed = changed
          ? await commit(newDraft(ledger.facts).delta, alertDelta, { kind: 'tick', at, pollAge })
          : undefined
        judgedAt = clock.monotonic()
        return committed
      }),
    beginAnew: () => {
      hasLooked = false
      begunAt = clock.monotonic()
    },
    isUnsure: () => isUnsure,
    follow: (commits) =>
      inTurn(async () => {
        const followed: Committed[] = []
        for (const commit of commits) {
          if (commit.ledger.facts.seq !== ledger.facts.seq + 1) continue
          moveOn(commit)
          followed.push({ target, ...commit, seconds: 0 })
          judgedAt = clock.monotonic()
        }
        if (followed.length > 0) ({ good: goodAt, swept: sweptAt } = looksBy(ledger.facts))
        isUnsure = false
        return followed
      }),
  }
}

/** Times as they are kept: a replay of the history judges by the very same. */
function wholeMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}

/** What rules judge a good look by, before it is committed. */
function lookAfter(ledger: LedgerState, delta: Delta, { now, limited = false }: GoodLook): Look {
  const { lastGood } = ledger.facts
  const unchanged = [...ledger.open.values()].filter(({ id }) => !delta.calls.has(id))
  const changed = [...delta.calls.values()].filter(({ phase }) => phase === 'open')
  return {
    kind: 'look',
    judged: { now: wholeMilliseconds(now), previousGood: lastGood && wholeMilliseconds(lastGood) },
    limited,
    finished: withFinishes(ledger.finished, delta.finishes),
    open: [...unchanged, ...changed],
    created: ledger.facts.created,
    usedSince: (time) => usedBetween(ledger.usage, time, Infinity) + usedBetween(delta.usage, time, Infinity),
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
