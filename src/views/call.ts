import * as z from 'zod'
import { isoTime, wholeMilliseconds } from '../clock/times.ts'
import {
  CALL_STATUSES,
  MODES,
  PARTICIPANT_STATES,
  RECEIVER_TYPES,
  TYPES,
  type SeenParticipant,
} from '../ledger/call.ts'
import { assignTotal } from '../ledger/delta/minutes.ts'
import { answeredTimes } from '../ledger/delta/observe-call.ts'
import type { ChangedCall } from '../ledger/state.ts'
import { beganAt, inHistorySince, lostAt, MARK, type TrackedCall } from '../ledger/tracked-call.ts'
import { HISTORY_STATUSES } from '../history/call-filter.ts'
import { count, minutes, namedObject, namedText, seconds, time } from './shapes.ts'

const status = z.enum(CALL_STATUSES)

/**
 * A call, in the order of the columns of its CSV. `other` is every value that the service does not document. A lost call finished
 * when it was lost.
 */
export const call = namedObject('Call', {
  target: z.string(),
  call_id: z
    .string()
    .describe(
      "Names the call within its target. It equals `session_id` unless the target's sessions have several calls",
    ),
  session_id: z.string().describe('A session can have several calls, one after the other'),
  type: z.enum(TYPES),
  mode: z.enum(MODES),
  receiver_type: z.enum(RECEIVER_TYPES),
  status: z.enum(HISTORY_STATUSES),
  began: time,
  finished: time.exactOptional().describe('Absent while the call is in progress'),
  participants: count,
  minutes,
  participant_minutes: minutes,
  duration_seconds: seconds.exactOptional(),
  answer_delay_seconds: seconds.exactOptional(),
  has_recording: z.boolean(),
  noticed: time.exactOptional().describe('When callwatch noticed that it had finished'),
  end_unknown: z
    .literal(true)
    .exactOptional()
    .describe(
      'The service has not said when: `finished` is the last poll that showed it in progress, or when it began',
    ),
})
export type CallView = z.output<typeof call>

export const calls = namedObject('Calls', {
  calls: z.array(call),
  truncated: z.literal(true).optional(),
  next: z.string().describe('`cursor` of the next page').optional(),
})
export type Calls = z.output<typeof calls>

export const callsCsv = namedText(
  'CallsCsv',
  'The same as CSV; with limit, x-callwatch-next is the cursor of the next page',
)
export const callsLines = namedText('CallsNdjson', 'The same, each call as a line of JSON')

/** A call in columns, which are stable. */
export const callRow = call.omit({ end_unknown: true })

/** The columns of calls as CSV (call-csv.ts), and of `call_history` (docs/sql.md). */
export type CallColumn =
  | Exclude<keyof z.output<typeof callRow>, 'minutes' | 'participant_minutes'>
  | `${'' | 'participant_'}${keyof CallView['minutes']}_minutes`

export const participant = z
  .object({
    uid: z.string().exactOptional(),
    state: z.enum(PARTICIPANT_STATES).exactOptional(),
    joined: z.boolean().describe('Whether they have joined the call'),
    joined_at: time.exactOptional(),
    left_at: time.exactOptional(),
    minutes,
  })
  .describe('Someone who took part in a call, or was invited to it')
export type Participant = z.output<typeof participant>

const point = z.enum(['none', ...HISTORY_STATUSES])

export const callInEvent = callRow
  .omit({ participant_minutes: true, noticed: true })
  .extend({ status })
  .describe('A call. In all enumerations, `other` is every value that the service does not document')
export type CallData = z.output<typeof callInEvent>

export const callChange = callInEvent
  .extend({
    from: point.exactOptional(),
    to: point.exactOptional(),
    inferred: z
      .boolean()
      .exactOptional()
      .describe('callwatch did not see this step: it must have happened between two polls'),
    before: z.object({ status, minutes }).exactOptional().describe('What was known before a correction'),
    after: z.object({ status }).exactOptional(),
    participant_list: z
      .array(participant)
      .exactOptional()
      .describe("Only with events.participants, and if the service's answer had a list"),
    detected_at: time.describe('When callwatch saw it'),
    backfilled: z
      .boolean()
      .describe('callwatch found the change late: in the first poll, or after a time in which it saw nothing'),
  })
  .describe(
    'A call in an event. `from`, `to` and `inferred` exist only for a change of the status, `before` and `after` only for a correction',
  )
export type CallChange = z.output<typeof callChange>

/**
 * A call in the log of events. Without its target and call id, which follow from the event's place in the log, and without its
 * session id if that is the call id.
 */
export type LoggedCallData<Data extends CallData = CallData> = Omit<Data, 'target' | 'call_id' | 'session_id'> &
  Partial<Pick<Data, 'session_id'>>

function callData(call: TrackedCall) {
  const { finish, labels, session } = call
  const { type, mode, receiverType } = finish?.labels ?? labels
  const [callAudio = 0, callVideo = 0] = call.minutes
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
  } satisfies LoggedCallData
}

function answeredData(call: TrackedCall): Pick<CallData, 'duration_seconds' | 'answer_delay_seconds'> {
  const { answerDelay, duration } = answeredTimes(call, call.finish?.status ?? 'other')
  return {
    ...(duration !== undefined && { duration_seconds: wholeMilliseconds(duration) }),
    ...(answerDelay !== undefined && { answer_delay_seconds: wholeMilliseconds(answerDelay) }),
  }
}

export function callView({ target, call }: { target: string; call: TrackedCall }): CallView {
  const [, , audio = 0, video = 0] = call.minutes
  const finished = inHistorySince(call)
  const noticed = lostAt(call) ?? call.finish?.known
  const { status, finished: _finished, ...data } = callData(call)
  return {
    target,
    call_id: call.id,
    session_id: call.id,
    ...data,
    status: call.phase === 'lost' ? 'lost' : status,
    ...(finished !== undefined && { finished: isoTime(finished) }),
    ...(noticed !== undefined && { noticed: isoTime(noticed) }),
    participant_minutes: { audio, video },
    ...((call.marks & MARK.endUnknown) !== 0 && { end_unknown: true }),
  }
}

export function callChangeView(
  { call, participants, at }: ChangedCall,
  backfilled: boolean,
): LoggedCallData<CallChange> {
  return {
    ...callData(call),
    ...(participants && { participant_list: participants.map((each) => participantView(each, call.labels)) }),
    detected_at: isoTime(at),
    backfilled,
  }
}

function participantView(
  { uid, state, joined, joinedAt, leftAt, minutes }: SeenParticipant,
  { type }: TrackedCall['labels'],
): Participant {
  const { audio = 0, video = 0 } = assignTotal(minutes, type)
  return {
    ...(uid !== undefined && { uid }),
    ...(state !== undefined && { state }),
    joined,
    ...(joinedAt !== undefined && { joined_at: isoTime(joinedAt) }),
    ...(leftAt !== undefined && { left_at: isoTime(leftAt) }),
    minutes: { audio, video },
  }
}

/** The id of a call for people, if it is known, with its session if that has another id. */
export function idsOf({ call_id, session_id }: { call_id: string | null; session_id: string }): string {
  return call_id === null || call_id === session_id ? session_id : `${call_id} of session ${session_id}`
}
