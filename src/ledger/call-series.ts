import { ALL_LABELS, byValue, FINAL_STATUSES, type Labels } from './call.ts'
import { COUNTERS, HISTOGRAMS, INVITED, MEDIA, seriesKey, type DurableHistogram } from './series.ts'
import type { Step } from './delta/transitions.ts'

/** The keys of a histogram for one label set: one key per bucket (the last bucket has no upper bound), and the sum. */
export type HistogramSeries = ReturnType<typeof histogramSeries>

// Joining a key takes longer than counting.
const madeSeries = new Map(ALL_LABELS.map((labels) => [labels, makeSeries(labels)]))
const madeKeys = new Map<Step, string>()

/** The keys of the series that calls with the same labels count in. */
export function callSeries(labels: Labels) {
  return madeSeries.get(labels)!
}

/** The series of a transition. */
export function transitionSeries(step: Step): string {
  let key = madeKeys.get(step)
  if (key === undefined) {
    key = seriesKey(COUNTERS.transitions, step.from, step.to, String(step.observed))
    madeKeys.set(step, key)
  }
  return key
}

function makeSeries({ type, mode, receiverType }: Labels) {
  const labels = [type, mode, receiverType]
  return {
    started: seriesKey(COUNTERS.started, ...labels),
    finished: byValue([...FINAL_STATUSES, 'other'], (status) => seriesKey(COUNTERS.finished, ...labels, status)),
    /** By level and medium, as MEASURES names them. */
    minutes: {
      call: byValue(MEDIA, (media) => seriesKey(COUNTERS.callMinutes, ...labels, media)),
      participant: byValue(MEDIA, (media) => seriesKey(COUNTERS.participantMinutes, media)),
    },
    invited: byValue(INVITED, (outcome) => seriesKey(COUNTERS.invited, ...labels, outcome)),
    duration: histogramSeries(HISTOGRAMS.duration, labels),
    answerDelay: histogramSeries(HISTOGRAMS.answerDelay, [type, receiverType]),
    participants: histogramSeries(HISTOGRAMS.participants, labels),
  }
}

function histogramSeries(histogram: DurableHistogram, labels: readonly string[]) {
  const { buckets: bounds } = histogram
  return {
    bounds,
    buckets: [...bounds, 'Inf'].map((bound) => seriesKey(histogram, ...labels, String(bound))),
    sum: seriesKey(histogram, ...labels, 'sum'),
  }
}
