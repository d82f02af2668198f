import { COUNTERS, observationKeys, seriesKey, type DurableCounter, type DurableHistogram } from './series.ts'
import type { Delta, Facts } from './state.ts'
import type { Finish, TrackedCall } from './tracked-call.ts'
import { addUsage, quarterOf } from './usage.ts'
import { stepsBetween, type Step, type TransitionPoint } from './transitions.ts'

/** A delta while a step writes it down. */
export type DeltaDraft = {
  readonly delta: Delta
  /** Adds `amount` to a counter's series. */
  add: (counter: DurableCounter, amount: number, ...labelValues: string[]) => void
  /** Notes that participant minutes were used, as known at a moment (UNIX seconds). */
  use: (minutes: number, at: number) => void
  /** Adds one to a counter's series. */
  count: (counter: DurableCounter, ...labelValues: string[]) => void
  /** One observation of a histogram, in its unit. */
  observe: (histogram: DurableHistogram, value: number, ...labelValues: string[]) => void
  finish: (finish: Finish) => void
  /** One transition of a call, counted and put on the feed. */
  step: (call: TrackedCall, step: Step, at: number) => void
  /** All transitions on the way from one state to another. */
  path: (call: TrackedCall, from: TransitionPoint, to: TransitionPoint, at: number) => void
}

/** An empty draft of the delta that follows `facts`. */
export function newDraft(facts: Facts): DeltaDraft {
  const delta: Delta = {
    facts: { ...facts, seq: facts.seq + 1 },
    calls: new Map(),
    forgotten: [],
    counters: new Map(),
    usage: new Map(),
    finishes: [],
    transitions: [],
  }
  const increment = (key: string, amount: number) => {
    delta.counters.set(key, (delta.counters.get(key) ?? 0) + amount)
  }
  const draft: DeltaDraft = {
    delta,
    add: (counter, amount, ...labelValues) => increment(seriesKey(counter, ...labelValues), amount),
    use: (minutes, at) => addUsage(delta.usage, quarterOf(at), minutes),
    count: (counter, ...labelValues) => increment(seriesKey(counter, ...labelValues), 1),
    observe: (histogram, value, ...labelValues) => {
      const { bucket, sum } = observationKeys(histogram, value, ...labelValues)
      increment(bucket, 1)
      increment(sum, value)
    },
    finish: (finish) => void delta.finishes.push(finish),
    step: (call, { from, to, observed }, at) => {
      increment(seriesKey(COUNTERS.transitions, from, to, String(observed)), 1)
      delta.transitions.push({ call, from, to, observed, at })
    },
    path: (call, from, to, at) => {
      for (const step of stepsBetween(from, to, call.labels.mode)) draft.step(call, step, at)
    },
  }
  return draft
}
