import { transitionSeries, type HistogramSeries } from './call-series.ts'
import type { Delta, SyncState } from './state.ts'
import type { Finish, TrackedCall } from './tracked-call.ts'
import { addUsage, quarterOf } from './usage.ts'
import { stepsBetween, type TransitionPoint } from './transitions.ts'

/** A delta while a step writes it down. */
export type DeltaDraft = {
  readonly delta: Delta
  /** Adds to a durable series (series.ts seriesKey). */
  add: (series: string, amount: number) => void
  /** Notes that participant minutes were used, or with a negative number corrected, as known at a moment (UNIX seconds). */
  use: (minutes: number, at: number) => void
  /** One observation of a histogram, in its unit. */
  observe: (histogram: HistogramSeries, value: number) => void
  finish: (finish: Finish) => void
  /** All transitions on the way from one state to another, counted and put on the feed. */
  path: (call: TrackedCall, from: TransitionPoint, to: TransitionPoint, at: number) => void
}

/** An empty draft of the delta that follows `sync`. */
export function newDraft(sync: SyncState): DeltaDraft {
  const delta: Delta = {
    sync: { ...sync, seq: sync.seq + 1 },
    calls: new Map(),
    evicted: [],
    counters: new Map(),
    usage: new Map(),
    finishes: [],
    transitions: [],
  }
  const { counters } = delta
  const add = (series: string, amount: number) => void counters.set(series, (counters.get(series) ?? 0) + amount)
  return {
    delta,
    add,
    use: (minutes, at) => addUsage(delta.usage, quarterOf(at), minutes),
    observe: ({ bounds, buckets, sum }, value) => {
      // -1 for what is above all bounds: the last bucket has none.
      const bucket = bounds.findIndex((bound) => value <= bound)
      add(buckets.at(bucket)!, 1)
      add(sum, value)
    },
    finish: (finish) => void delta.finishes.push(finish),
    path: (call, from, to, at) => {
      for (const step of stepsBetween(from, to, call.labels.mode)) {
        add(transitionSeries(step), 1)
        delta.transitions.push({ call, from: step.from, to: step.to, observed: step.observed, at })
      }
    },
  }
}
