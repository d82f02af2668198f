// Receivers of events import this file from the package, so it imports nothing.

/** All types of events, without the prefix `callwatch.`. */
export const EVENT_TYPES = [
  'call.initiated',
  'call.ongoing',
  'call.ended',
  'call.unanswered',
  'call.rejected',
  'call.canceled',
  'call.other',
  'call.lost',
  'call.reappeared',
  'call.corrected',
  'call.details',
  'alert.firing',
  'alert.resolved',
  'alert.expired',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** A CloudEvent 1.0, as webhooks and `/api/v1/events` deliver it. */
export type CallwatchEvent = CallEvent | AlertEvent

/** An event of a call. The call id is the `subject`. */
export type CallEvent = CloudEvent<Extract<EventType, `call.${string}`>, CallChange> & { subject: string }

/** An event of an alert. */
export type AlertEvent = CloudEvent<Extract<EventType, `alert.${string}`>, AlertChange> & { subject?: undefined }

/** Whether an event is about a call. Otherwise it is about an alert. */
export function isCallEvent(event: CallwatchEvent): event is CallEvent {
  return event.type.startsWith('callwatch.call.')
}

type CloudEvent<Type extends string, Data> = {
  specversion: '1.0'
  /** Unique for each event, and the same each time that the event is sent. */
  id: string
  /** `urn:callwatch:TARGET`. */
  source: string
  type: `callwatch.${Type}`
  /** When it happened, by the service's clock (ISO 8601). */
  time: string
  datacontenttype: 'application/json'
  data: Data
}

type CallStatus = 'initiated' | 'ongoing' | 'ended' | 'unanswered' | 'rejected' | 'canceled' | 'other'
type CallPoint = 'none' | CallStatus | 'lost'
type Minutes = { audio: number; video: number }

/** A call. In all enumerations, `other` stands for every value that the service does not document. */
export type CallData = {
  target: string
  /** Names the call within its target. It equals `session_id` unless the target's sessions have several calls. */
  call_id: string
  /** A session can have several calls, one after the other. */
  session_id: string
  type: 'audio' | 'video' | 'other'
  mode: 'call' | 'meet' | 'presenter' | 'other'
  receiver_type: 'user' | 'group' | 'other'
  status: CallStatus
  began: string
  /** Absent while the call is in progress. */
  finished?: string
  participants: number
  minutes: Minutes
  duration_seconds?: number
  answer_delay_seconds?: number
  has_recording: boolean
}

/**
 * A call in an event. `from`, `to` and `inferred` exist only for a change of the status, `before` and `after` only for a
 * correction.
 */
export type CallChange = CallData & {
  from?: CallPoint
  to?: CallPoint
  /** callwatch did not see this step: it must have happened between two polls. */
  inferred?: boolean
  /** The values before a correction. */
  before?: { status: CallStatus; minutes: Minutes }
  after?: { status: CallStatus }
  /** Only with `events.participants`, and if the service's answer had a list. */
  participant_list?: Participant[]
  /** When callwatch saw the change. */
  detected_at: string
  /** callwatch found the change late: in the first poll, or after a time in which it saw nothing. */
  backfilled: boolean
}

/** Someone who took part in a call, or was invited to it. */
export type Participant = {
  uid?: string
  state?: 'ongoing' | 'ended' | 'unanswered' | 'rejected' | 'other'
  /** Whether they have joined the call. */
  joined: boolean
  joined_at?: string
  left_at?: string
  minutes: Minutes
}

/** An alert in an event. */
export type AlertChange = {
  target: string
  alert: string
  severity: 'info' | 'warning' | 'critical'
  /** The labels by which the rule groups calls. */
  labels: Readonly<Partial<Record<'type' | 'mode' | 'receiver_type', string>>>
  signal: string
  breach: 'above' | 'below'
  value: number
  threshold: number
  /** How many calls are in the signal's window; null if the signal does not count calls. */
  calls: number | null
  since: string
  /** The worst value since it fired. */
  peak: number
  /** Why it expired. */
  expired_because?: 'too few calls' | 'rule removed' | 'rule changed' | 'target removed' | 'target reset'
}
