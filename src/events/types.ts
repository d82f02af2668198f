// What receivers of events import from the package: so it imports nothing itself.

/** Every type of an event, without its prefix `callwatch.`. */
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

/** A CloudEvent 1.0, as webhooks get it and `/api/v1/events` has it. */
export type CallwatchEvent = CallEvent | AlertEvent

/** Something happened to a call, whose session id is the `subject`. */
export type CallEvent = CloudEvent<Extract<EventType, `call.${string}`>, CallChange> & { subject: string }

/** Something happened to an alert. */
export type AlertEvent = CloudEvent<Extract<EventType, `alert.${string}`>, AlertChange> & { subject?: undefined }

/** Whether an event is of a call; else it is of an alert. */
export function isCallEvent(event: CallwatchEvent): event is CallEvent {
  return event.type.startsWith('callwatch.call.')
}

type CloudEvent<Type extends string, Data> = {
  specversion: '1.0'
  /** The same each time that this event is sent, and of no other one. */
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

/** A call. In all enumerations, `other` is every value that the service does not document. */
export type CallData = {
  target: string
  session_id: string
  type: 'audio' | 'video' | 'other'
  mode: 'call' | 'meet' | 'presenter' | 'other'
  receiver_type: 'user' | 'group' | 'other'
  status: CallStatus
  began: string
  /** Absent while it is in progress. */
  finished?: string
  participants: number
  minutes: Minutes
  duration_seconds?: number
  answer_delay_seconds?: number
  has_recording: boolean
}

/** What an event says of a call; `from`, `to` and `inferred` only of a step, `before` and `after` only of a correction. */
export type CallChange = CallData & {
  from?: CallPoint
  to?: CallPoint
  /** callwatch did not see it: it must have happened between two polls. */
  inferred?: boolean
  /** What was known before a correction. */
  before?: { status: CallStatus; minutes: Minutes }
  after?: { status: CallStatus }
  /** Only with `events.participants`, where the answer had a list. */
  participant_list?: Participant[]
  /** When callwatch saw it. */
  detected_at: string
  /** It was found in the first poll, or after a time in which nothing was seen. */
  backfilled: boolean
}

/** Someone who took part in a call, or was to. */
export type Participant = {
  uid?: string
  state?: 'ongoing' | 'ended' | 'unanswered' | 'rejected' | 'other'
  /** Whether they have been in the call. */
  joined: boolean
  joined_at?: string
  left_at?: string
  minutes: Minutes
}

/** What an event says of an alert. */
export type AlertChange = {
  target: string
  alert: string
  severity: 'info' | 'warning' | 'critical'
  /** By which the rule groups calls. */
  labels: Readonly<Partial<Record<'type' | 'mode' | 'receiver_type', string>>>
  signal: string
  breach: 'above' | 'below'
  value: number
  threshold: number
  /** In the window of the signal; null where it counts none. */
  calls: number | null
  since: string
  /** The worst value since then. */
  peak: number
  /** Why it expired. */
  expired_because?: 'too few calls' | 'rule removed' | 'rule changed' | 'target removed' | 'target reset'
}
