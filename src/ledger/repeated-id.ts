import type { SeenCall } from './call.ts'
import type { DeltaDraft } from './delta-draft.ts'
import { COUNTERS, seriesKey } from './series.ts'
import { MARK, type TrackedCall } from './tracked-call.ts'

/** Seconds by which two answers may differ in when a call began, and mean the same call. */
const SAME_START = 1

/**
 * Whether an answer shows the tracked call with an earlier or a later beginning, by every time of it that both have: that
 * is another row under the same id. 0 where it is the same, or cannot be told: a call that has just been answered has a new time.
 */
export function compareStart(
  before: Pick<SeenCall, 'initiatedAt' | 'startedAt'> & { phase?: TrackedCall['phase'] },
  { initiatedAt, startedAt }: Pick<SeenCall, 'initiatedAt' | 'startedAt'>,
): -1 | 0 | 1 {
  const initiated = compareTime(initiatedAt, before.initiatedAt)
  const started = compareTime(startedAt, before.startedAt)
  const wasAnswered = before.phase === 'open' && before.startedAt === undefined && startedAt !== undefined
  // No call is answered before it rings.
  if (started === undefined && initiated === undefined)
    return compareTime(startedAt, before.initiatedAt) === -1 ? -1 : 0
  if (started === undefined) return wasAnswered && initiated === 1 ? 0 : (initiated ?? 0)
  return initiated === undefined || initiated === started ? started : 0
}

function compareTime(time: number | undefined, before: number | undefined): -1 | 0 | 1 | undefined {
  if (time === undefined || before === undefined) return undefined
  return Math.abs(time - before) <= SAME_START ? 0 : time < before ? -1 : 1
}

/**
 * Whether an answer shows another row under the id of a tracked call, which does not count: one that began earlier, and was
 * over when the tracked one began, or of an id that had two rows before. Else the times of the call have changed.
 */
export function isEarlierRow(
  tracked: Pick<TrackedCall, 'phase' | 'initiatedAt' | 'startedAt' | 'marks'>,
  seen: SeenCall,
): boolean {
  if (compareStart(tracked, seen) !== -1) return false
  const began = tracked.initiatedAt ?? tracked.startedAt ?? -Infinity
  return (tracked.marks & MARK.repeatedId) !== 0 || (seen.endedAt ?? Infinity) <= began + SAME_START
}

/** Takes down that an answer showed the id of a tracked call with an earlier beginning: that row is not counted. */
export function ignoreEarlierRow(before: TrackedCall, draft: DeltaDraft): TrackedCall {
  if ((before.marks & MARK.repeatedId) !== 0) return before
  draft.add(seriesKey(COUNTERS.anomalies, 'repeated_id'), 1)
  return { ...before, marks: before.marks | MARK.repeatedId }
}
