import { COUNTERS, HISTOGRAMS, sumOf, type DurableHistogram } from '../../../src/ledger/series.ts'
import type { LedgerState } from '../../../src/ledger/state.ts'
import { MARK, type TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { addTo, type Series } from '../../../src/simulator/expected/expected-series.ts'

/** What is counted of calls, for all labels together; minutes less corrections. */
type RowSums = { started: number; finished: number; callMinutes: number; participantMinutes: number }

const TOLERANCE = 1e-6

export function sumsOfRows(rows: Iterable<TrackedCall>): RowSums {
  const sums = { started: 0, finished: 0, callMinutes: 0, participantMinutes: 0 }
  for (const { phase, finish, minutes } of rows) {
    if (phase === 'baseline') continue
    const [callAudio = 0, callVideo = 0, audio = 0, video = 0] = minutes
    sums.started += 1
    sums.finished += finish === undefined ? 0 : 1
    sums.callMinutes += callAudio + callVideo
    sums.participantMinutes += audio + video
  }
  return sums
}

export function sumsOfCounters(ledger: LedgerState): RowSums {
  const corrected = (level: string) => sumOf(ledger, COUNTERS.corrections, ([, one]) => one === level)
  return {
    started: sumOf(ledger, COUNTERS.started),
    finished: sumOf(ledger, COUNTERS.finished),
    callMinutes: sumOf(ledger, COUNTERS.callMinutes) - corrected('call'),
    participantMinutes: sumOf(ledger, COUNTERS.participantMinutes) - corrected('participant'),
  }
}

/** What differs, a line each. */
export function differingSums(ledger: LedgerState, rows: RowSums): string[] {
  const counters = sumsOfCounters(ledger)
  const names = ['started', 'finished', 'callMinutes', 'participantMinutes'] as const
  return names
    .filter((name) => Math.abs(counters[name] - rows[name]) > TOLERANCE)
    .map((name) => `${name}: ${counters[name]} by the counters, ${rows[name]} by the rows`)
}

/**
 * What one call added to the exact series, by its row: so much is taken off before a comparison that sets it aside.
 * Its labels must not have changed. Minutes and invited people are net, as `lessCorrections` makes them.
 */
export function contribution(call: TrackedCall): Series {
  const series: Series = new Map()
  if (call.phase === 'baseline') return series
  const { type, mode, receiverType } = call.labels
  const labels = { type, mode, receiver_type: receiverType }
  addTo(series, 'callwatch_calls_started_total', labels, 1)
  if (call.phase === 'open') addTo(series, 'callwatch_calls_in_progress', { ...labels, status: call.status }, 1)
  const [callAudio = 0, callVideo = 0, audio = 0, video = 0] = call.minutes
  addTo(series, 'callwatch_call_minutes_total', { media: 'audio' }, callAudio)
  addTo(series, 'callwatch_call_minutes_total', { media: 'video' }, callVideo)
  addTo(series, 'callwatch_participant_minutes_total', { media: 'audio' }, audio)
  addTo(series, 'callwatch_participant_minutes_total', { media: 'video' }, video)
  if (call.finish === undefined) return series
  addTo(series, 'callwatch_calls_total', { ...labels, status: call.finish.status }, 1)
  const { invited } = call.finish
  addTo(series, 'callwatch_invited_total', { outcome: 'joined' }, invited?.joined ?? 0)
  addTo(series, 'callwatch_invited_total', { outcome: 'absent' }, invited?.absent ?? 0)
  const isUnknown = invited === undefined && (call.marks & MARK.detailsWanted) === 0
  addTo(series, 'callwatch_invited_total', { outcome: 'unknown' }, isUnknown ? 1 : 0)
  if ((call.marks & MARK.recordingSeen) !== 0) addTo(series, 'callwatch_calls_recorded_total', {}, 1)
  return series
}

/** The families of which a row does not have its call's part: what was observed once of it. */
export const FAMILIES_OBSERVED_ONCE = Object.values<DurableHistogram>(HISTOGRAMS).map(({ name }) => name)
