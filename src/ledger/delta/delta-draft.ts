import { transitionSeries, type HistogramSeries } from '../call-series.ts'
import type { Correction, Delta, Details, SyncState, Transition } from '../state.ts'
import type { Finish, TrackedCall } from '../tracked-call.ts'
import { addUsage, quarterHourOf } from '../usage.ts'
import { stepsBetween, type Step, type TransitionPoint } from './transitions.ts'

/** A delta while it is computed. */
export type DeltaDraft = {
  readonly delta: Delta
  /** Adds to a durable series (series.ts seriesKey). */
  add: (series: string, amount: number) => void
  /** Adds participant minutes, or subtracts a correction, at the moment they became known (UNIX seconds). */
  use: (minutes: number, at: number) => void
  /** One observation of a histogram, in its unit. */
  observe: (histogram: HistogramSeries, value: number) => void
  finish: (finish: Finish) => void
  correct: (correction: Correction) => void
  details: (details: Details) => void
  /** Counts all transitions from one status to another. */
  path: (call: TrackedCall, from: TransitionPoint, to: TransitionPoint) => readonly Step[]
  /** Reports an end without a change of the status. */
  end: (change: Seen) => void
  /** Counts them, and reports each. */
  recordTransition: (change: Seen, from: TransitionPoint, to: TransitionPoint) => void
}

type Seen = Pick<Transition, 'call' | 'participants' | 'at'>

/** An empty draft of the delta that follows `sync`. */
export function newDraft(sync: SyncState): DeltaDraft {
  const delta: Delta = {
    sync: { ...sync, seq: sync.seq + 1 },
    calls: new Map(),
    evicted: [],
    counters: new Map(),
    usage: new Map(),
    stale: new Set(),
    finishes: [],
    transitions: [],
    corrections: [],
    details: [],
  }
  const { counters } = delta
  const add = (series: string, amount: number) => void counters.set(series, (counters.get(series) ?? 0) + amount)
  const path: DeltaDraft['path'] = (call, from, to) => {
    const steps = stepsBetween(from, to, call.labels.mode)
    for (const step of steps) add(transitionSeries(step), 1)
    return steps
  }
  return {
    delta,
    add,
    use: (minutes, at) => addUsage(delta.usage, quarterHourOf(at), minutes),
    observe: ({ bounds, buckets, sum }, value) => {
      // -1 above all bounds: the last bucket has none.
      const bucket = bounds.findIndex((bound) => value <= bound)
      add(buckets.at(bucket)!, 1)
      add(sum, value)
    },
    finish: (finish) => void delta.finishes.push(finish),
    correct: (correction) => void delta.corrections.push(correction),
    details: (details) => void delta.details.push(details),
    path,
    end: (change) => {
      const { status } = change.call
      delta.transitions.push({ ...change, from: status, to: status, observed: true })
    },
    recordTransition: (change, from, to) => {
      for (const step of path(change.call, from, to)) delta.transitions.push({ ...change, ...step })
    },
  }
}
