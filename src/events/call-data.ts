import { answeredTimes } from '../ledger/delta/observe-call.ts'
import { beganAt, inHistorySince, MARK, type TrackedCall } from '../ledger/tracked-call.ts'
import { isoTime, wholeMilliseconds } from '../clock/times.ts'
import type { CallData } from './types.ts'

/**
 * A call in an event: the fields of `/api/v1/calls`, and how long it rang and lasted (seconds), if known. Without its target and
 * call id, which follow from the event's place in the log, and without its session id if that is the call id.
 */
export function callData(call: TrackedCall): LoggedCallData {
  const { finish, labels, session } = call
  const { type, mode, receiverType } = finish?.labels ?? labels
  const [callAudio = 0, callVideo = 0] = call.counted
  return {
    ...(session !== undefined && { session_id: session }),
    type,
    mode,
    receiver_type: receiverType,
    status: finish?.status ?? call.status,
    began: isoTime(beganAt(call)),
    ...(finish === undefined ? {} : { finished: isoTime(finish.at) }),
    participants: (finish === undefined ? call.joined : call.totalParticipants) ?? 0,
    minutes: { audio: callAudio, video: callVideo },
    ...answeredData(call),
    has_recording: (call.marks & MARK.recordingSeen) !== 0,
  }
}

export type LoggedCallData<Data extends CallData = CallData> = Omit<Data, 'target' | 'call_id' | 'session_id'> &
  Partial<Pick<Data, 'session_id'>>

function answeredData(call: TrackedCall): Pick<CallData, 'duration_seconds' | 'answer_delay_seconds'> {
  const { answerDelay, duration } = answeredTimes(call, call.finish?.status ?? 'other')
  return {
    ...(duration !== undefined && { duration_seconds: wholeMilliseconds(duration) }),
    ...(answerDelay !== undefined && { answer_delay_seconds: wholeMilliseconds(answerDelay) }),
  }
}

/** The id of a call for people, if it is known, with its session if that has another id. */
export function idsOf({ call_id, session_id }: { call_id: string | null; session_id: string }): string {
  return call_id === null || call_id === session_id ? session_id : `${call_id} of session ${session_id}`
}

export type CallRowView = ReturnType<typeof callRowView>

/** A call in `/api/v1/calls`, with all fields of `call_history` (docs/sql.md). A lost call finished when it was lost. */
export function callRowView({ target, call }: { target: string; call: TrackedCall }) {
  const [, , audio = 0, video = 0] = call.counted
  const finished = inHistorySince(call)
  const noticed = call.phase === 'lost' ? call.retainUntil : call.finish?.known
  const { status, finished: _finished, ...data } = callData(call)
  return {
    target,
    call_id: call.id,
    session_id: call.id,
    ...data,
    status: call.phase === 'lost' ? ('lost' as const) : status,
    ...(finished !== undefined && { finished: isoTime(finished) }),
    ...(noticed !== undefined && { noticed: isoTime(noticed) }),
    participant_minutes: { audio, video },
  }
}
