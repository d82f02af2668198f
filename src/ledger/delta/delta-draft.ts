import { transitionSeries, type HistogramSeries } from '../call-series.ts'
import type { ChangedCall, Delta, SyncState } from '../state.ts'
import { hasEvents, type TrackedCall } from '../tracked-call.ts'
import { addUsage, quarterHourOf } from '../usage.ts'
import { stepsBetween, type TransitionPoint } from './transitions.ts'

/** A delta while it is being computed. */
export type DeltaDraft = ReturnType<typeof newDraft>

/** An empty draft of the delta that follows `sync`. */
export function newDraft(sync: SyncState) {
  const delta: Delta = {
    sync: { ...sync, seq: sync.seq + 1 },
    calls: new Map(),
    evicted: [],
    counters: new Map(),
    usage: new Map(),
    userMinutes: new Map(),
    stale: new Set(),
    finishes: [],
    changedFinishes: [],
    transitions: [],
    corrections: [],
    details: [],
  }
  const { counters } = delta
  /** Increments a durable series (series.ts seriesKey). */
  const add = (series: string, amount: number) => void counters.set(series, (counters.get(series) ?? 0) + amount)
  /** Counts all transitions between two statuses. */
  const path = (call: TrackedCall, from: TransitionPoint, to: TransitionPoint) => {
    const steps = stepsBetween(from, to, call.labels.mode)
    for (const step of steps) add(transitionSeries(step), 1)
    return steps
  }
  return {
    delta,
    add,
    /** Adds participant minutes, or subtracts a correction, at the time when callwatch learned of them (UNIX seconds). */
    use: (minutes: number, at: number) => addUsage(delta.usage, quarterHourOf(at), minutes),
    /** Adds a value to a histogram, in its unit. */
    observe: ({ bounds, buckets, sum }: HistogramSeries, value: number) => {
      // -1 if the value is above all bounds. The last bucket has none.
      const bucket = bounds.findIndex((bound) => value <= bound)
      add(buckets.at(bucket)!, 1)
      add(sum, value)
    },
    path,
    /** Reports that a call ended without a change of its status. */
    end: (change: ChangedCall) => {
      const { status } = change.call
      delta.transitions.push({ ...change, from: status, to: status, observed: true })
    },
    /** Counts the transitions, and reports each of them if the call has events. */
    recordTransition: (change: ChangedCall, from: TransitionPoint, to: TransitionPoint) => {
      const steps = path(change.call, from, to)
      if (hasEvents(change.call)) delta.transitions.push(...steps.map((step) => ({ ...change, ...step })))
    },
  }
}
