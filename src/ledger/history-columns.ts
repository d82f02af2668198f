import { labelCode, statusCode } from './call-codes.ts'
import { answeredTimes } from './observe-call.ts'
import { beganAt, MARK, type TrackedCall } from './tracked-call.ts'

// Stores contain these codes beside those of call-codes.ts.
export const LOST_CODE = 7
/** Of a call that is not counted, and no history shows. */
export const BASELINE_CODE = 8

/** What a call's row shows beside its record, for SQL and for what is counted of rows. */
export type HistoryColumns = ReturnType<typeof historyColumns>

/**
 * The columns of a call's row that SQL reads: times are UNIX seconds by the service's clock, minutes as the service last
 * said; null where nothing is known. A call that is lost finished when it was lost.
 */
export function historyColumns(call: TrackedCall) {
  const { phase, finish, labels, counted, marks, totalParticipants, joined } = call
  const isLost = phase === 'lost'
  const { answerDelay, duration } = answeredTimes(call, finish?.status ?? 'other')
  return {
    finished: isLost ? call.retainUntil! : (finish?.at ?? null),
    status: phase === 'baseline' ? BASELINE_CODE : isLost ? LOST_CODE : statusCode(finish?.status ?? call.status),
    labels: labelCode(finish?.labels ?? labels),
    began: beganAt(call),
    /** When callwatch noticed that it had finished. */
    noticed: isLost ? call.retainUntil! : (finish?.known ?? null),
    duration: duration ?? null,
    answer_delay: answerDelay ?? null,
    participants: (finish === undefined ? joined : totalParticipants) ?? null,
    audio: counted[0]!,
    video: counted[1]!,
    participant_audio: counted[2]!,
    participant_video: counted[3]!,
    recorded: (marks & MARK.recordingSeen) === 0 ? 0 : 1,
  }
}

/** The names of these columns, in the order in which stores write them. */
export const HISTORY_COLUMNS = [
  'finished',
  'status',
  'labels',
  'began',
  'noticed',
  'duration',
  'answer_delay',
  'participants',
  'audio',
  'video',
  'participant_audio',
  'participant_video',
  'recorded',
] as const satisfies readonly (keyof HistoryColumns)[]
