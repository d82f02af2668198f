import type { SeenCall } from '../call.ts'
import { beganAt, MARK, type TrackedCall } from '../tracked-call.ts'

/**
 * When a call finished (UNIX seconds), as its row says: `endedAt`, else its {@link SeenCall.end}, else when it began. On the live
 * service, a rejected call has no `endedAt`. It is not after callwatch first saw the call as final. Without `endedAt`, it is not
 * before an answer showed the call as open: after a restart or a takeover, when the call was first seen.
 *
 * A finish is counted when the call is first seen as final. If no answer had shown its end by then, the first one that does moves
 * `finish.at`, and with it the call in the history, in windows and rollups. Counters, the time at which the end was noticed, and events
 * that were sent stay as they were.
 *
 * @param before the tracked call; undefined if it is new
 * @param call with what the answer shows. While it is open, the result means nothing.
 */
export function finishTime(before: TrackedCall | undefined, call: TrackedCall, seen: SeenCall, now: number): number {
  const began = beganAt(call)
  const { finish, marks } = call
  const latest = finish === undefined || (marks & MARK.overAtSetUp) !== 0 ? now : finish.known
  const earliest = before === undefined ? began : (finish?.at ?? seen.openUntil ?? before.firstSeen)
  const end = call.endedAt ?? Math.max(seen.end ?? began, earliest)
  return Math.min(Math.max(end, began), latest)
}

/** Whether an answer shows when the call ended, if it has. */
export function showsEnd(call: Pick<TrackedCall, 'endedAt'>, { end }: Pick<SeenCall, 'end'>): boolean {
  return call.endedAt !== undefined || end !== undefined
}
