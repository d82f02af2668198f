import { ALL_LABELS, type FinalStatus, type Labels } from './call.ts'
import { COUNTERS, HISTOGRAMS, seriesKey, type DurableHistogram } from './series.ts'
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
  const finished = (status: FinalStatus) => seriesKey(COUNTERS.finished, ...labels, status)
  return {
    started: seriesKey(COUNTERS.started, ...labels),
    finished: {
      ended: finished('ended'),
      unanswered: finished('unanswered'),
      rejected: finished('rejected'),
      canceled: finished('canceled'),
      other: finished('other'),
    },
    /** By level and medium, as MEASURES names them. */
    minutes: {
      call: {
        audio: seriesKey(COUNTERS.callMinutes, ...labels, 'audio'),
        video: seriesKey(COUNTERS.callMinutes, ...labels, 'video'),
      },
      participant: {
        audio: seriesKey(COUNTERS.participantMinutes, 'audio'),
        video: seriesKey(COUNTERS.participantMinutes, 'video'),
      },
    },
    duration: histogramSeries(HISTOGRAMS.duration, labels),
    answerDelay: histogramSeries(HISTOGRAMS.answerDelay, [type, receiverType]),
    participants: histogramSeries(HISTOGRAMS.participants, labels),
  }
}

/** The keys of one label set of a histogram: one for each bucket, the last without a bound, and the sum. */
function histogramSeries(histogram: DurableHistogram, labels: readonly string[]) {
  const { buckets: bounds } = histogram
  return {
    bounds,
    buckets: [...bounds, 'Inf'].map((bound) => seriesKey(histogram, ...labels, String(bound))),
    sum: seriesKey(histogram, ...labels, 'sum'),
  }
}
