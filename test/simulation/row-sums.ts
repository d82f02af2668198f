import { COUNTERS } from '../../src/ledger/series.ts'
import type { LedgerState } from '../../src/ledger/state.ts'
import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { sumOf } from '../../src/metrics/derived-metrics.ts'

/** What is counted of calls, for all labels together; minutes less corrections. */
export type RowSums = { started: number; finished: number; callMinutes: number; participantMinutes: number }

const TOLERANCE = 1e-6

export function sumsOfRows(rows: Iterable<TrackedCall>): RowSums {
  const sums = { started: 0, finished: 0, callMinutes: 0, participantMinutes: 0 }
  for (const { phase, finish, counted } of rows) {
    if (phase === 'baseline') continue
    const [callAudio = 0, callVideo = 0, audio = 0, video = 0] = counted
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
