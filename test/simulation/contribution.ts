import { HISTOGRAMS, type DurableHistogram } from '../../src/ledger/series.ts'
import { MARK, type TrackedCall } from '../../src/ledger/tracked-call.ts'
import { addTo, type Series } from '../../src/simulator/series.ts'

/**
 * What one call added to the exact series, by its row: so much is taken off before a comparison that sets it aside.
 * Its labels must not have changed. Minutes are net, as `lessCorrections` makes them.
 */
export function contribution(call: TrackedCall): Series {
  const series: Series = new Map()
  if (call.phase === 'baseline') return series
  const { type, mode, receiverType } = call.labels
  const labels = { type, mode, receiver_type: receiverType }
  addTo(series, 'callwatch_calls_started_total', labels, 1)
  if (call.phase === 'open') addTo(series, 'callwatch_calls_in_progress', { ...labels, status: call.status }, 1)
  const [callAudio = 0, callVideo = 0, audio = 0, video = 0] = call.counted
  addTo(series, 'callwatch_call_minutes_total', { media: 'audio' }, callAudio)
  addTo(series, 'callwatch_call_minutes_total', { media: 'video' }, callVideo)
  addTo(series, 'callwatch_participant_minutes_total', { media: 'audio' }, audio)
  addTo(series, 'callwatch_participant_minutes_total', { media: 'video' }, video)
  if (call.finish === undefined) return series
  addTo(series, 'callwatch_calls_total', { ...labels, status: call.finish.status }, 1)
  const has = (mark: number) => (call.marks & mark) !== 0
  if (has(MARK.recordedCounted)) addTo(series, 'callwatch_calls_recorded_total', {}, 1)
  return series
}

/** The families of which a set-aside call's part cannot be told from its row: what was observed once of it. */
export const FAMILIES_OBSERVED_ONCE = Object.values<DurableHistogram>(HISTOGRAMS).map(({ name }) => name)
