import type { SeenCall } from '../call.ts'
import type { DeltaDraft } from './delta-draft.ts'
import { COUNTERS, seriesKey } from '../series.ts'
import { MARK, type TrackedCall } from '../tracked-call.ts'

/** Start times of one call in two answers differ by at most this (seconds). */
const SAME_START_SECONDS = 1

/**
 * Whether an answer shows another row with the id of a tracked call: one that began earlier (-1) or later (1), judged by
 * every time that both have. 0 if it is the same call, or if that is unknown: a call that was just answered has a new time.
 */
export function compareStart(
  before: Pick<SeenCall, 'initiatedAt' | 'startedAt'> & { phase?: TrackedCall['phase'] },
  { initiatedAt, startedAt }: Pick<SeenCall, 'initiatedAt' | 'startedAt'>,
): -1 | 0 | 1 {
  const initiated = compareTime(initiatedAt, before.initiatedAt)
  const started = compareTime(startedAt, before.startedAt)
  const wasAnswered = before.phase === 'open' && before.startedAt === undefined && startedAt !== undefined
  // A call is not answered before it rings.
  if (started === undefined && initiated === undefined)
    return compareTime(startedAt, before.initiatedAt) === -1 ? -1 : 0
  if (started === undefined) return wasAnswered && initiated === 1 ? 0 : (initiated ?? 0)
  return initiated === undefined || initiated === started ? started : 0
}

function compareTime(time: number | undefined, before: number | undefined): -1 | 0 | 1 | undefined {
  if (time === undefined || before === undefined) return undefined
  return Math.abs(time - before) <= SAME_START_SECONDS ? 0 : time < before ? -1 : 1
}

/**
 * Whether a list may show another row with the id of a tracked call. It began earlier, and it either ended before the tracked
 * call began, or this id was already listed with two different start times. Otherwise the times of the call have changed.
 */
export function isEarlierRow(
  tracked: Pick<TrackedCall, 'phase' | 'initiatedAt' | 'startedAt' | 'marks'>,
  seen: SeenCall,
): boolean {
  if (compareStart(tracked, seen) !== -1) return false
  const began = tracked.initiatedAt ?? tracked.startedAt ?? -Infinity
  return (tracked.marks & MARK.repeatedId) !== 0 || (seen.endedAt ?? Infinity) <= began + SAME_START_SECONDS
}

/** Counts the anomaly if an earlier row has the id of a tracked call. */
export function noteEarlierRow(before: TrackedCall, draft: DeltaDraft): TrackedCall {
  if ((before.marks & MARK.repeatedId) !== 0) return before
  draft.add(seriesKey(COUNTERS.anomalies, 'repeated_id'), 1)
  return { ...before, marks: before.marks | MARK.repeatedId }
}
