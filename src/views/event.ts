import * as z from 'zod'
import { HISTORY_STATUSES } from '../history/call-filter.ts'
import { alertChange, type AlertChange } from './alert.ts'
import { callChange, type CallChange } from './call.ts'
import { named, namedObject, namedText, time } from './shapes.ts'

/** That a call reached a status, such as `call.ended`, and what else happens to it. */
const CALL_EVENTS = ([...HISTORY_STATUSES, 'reappeared', 'corrected', 'details'] as const).map(
  (name) => `call.${name}` as const,
)
const ALERT_EVENTS = ['alert.firing', 'alert.resolved', 'alert.expired'] as const

/** All types of events, without the prefix `callwatch.`. */
export const EVENT_TYPES = [...CALL_EVENTS, ...ALERT_EVENTS]
export type EventType = (typeof EVENT_TYPES)[number]

/** Before the type of an event. */
export const EVENT_PREFIX = 'callwatch.' as const

const typesOf = <Type extends EventType>(types: readonly Type[]) =>
  z.enum(types.map((type) => `${EVENT_PREFIX}${type}` as const))

/** A CloudEvent 1.0 (https://github.com/cloudevents/spec, JSON format). */
export const event = namedObject('Event', {
  specversion: z.literal('1.0'),
  id: z.string().describe('Follows from what happened: the same each time that the event is sent or found again'),
  source: z.string().describe('`urn:callwatch:TARGET`'),
  type: typesOf(EVENT_TYPES),
  subject: z.string().exactOptional().describe('Of a call its call_id'),
  time: time.describe("When it happened, by the service's clock (ISO 8601)"),
  datacontenttype: z.literal('application/json'),
  data: z.union([callChange, alertChange]),
})
type EventView = z.output<typeof event>

/** An event that `events --json` prints. Its extension attribute is its cursor: a reader continues after it. */
export const printedEvent = event.extend({ callwatchcursor: z.string() })

export const callEvent = event
  .extend({ type: typesOf(CALL_EVENTS), subject: z.string().describe('The call id'), data: callChange })
  .describe('An event of a call. The call id is its `subject`')
export type CallEvent = z.output<typeof callEvent>

export const alertEvent = event
  .extend({ type: typesOf(ALERT_EVENTS), subject: z.never().exactOptional(), data: alertChange })
  .describe('An event of an alert')
export type AlertEvent = z.output<typeof alertEvent>

/** An event as webhooks and `/api/v1/events` deliver it. */
export type CallwatchEvent = CallEvent | AlertEvent

/** The fields of an event that do not follow from its place in the log. Its type has no prefix. */
export type EventBody<Data = CallChange | AlertChange> = Pick<EventView, 'subject' | 'time'> & {
  type: EventType
  data: Data
}

/** An event of the log. */
export function eventView(target: string, id: string, { type, subject, time, data }: EventBody): EventView {
  return {
    specversion: '1.0',
    id,
    source: `urn:callwatch:${encodeURIComponent(target)}`,
    type: `${EVENT_PREFIX}${type}`,
    ...(subject !== undefined && { subject }),
    time,
    datacontenttype: 'application/json',
    data,
  }
}

export const events = namedObject('Events', {
  events: z.array(event),
  next: z.string().describe('Cursor after the last of them'),
})
export const eventBatch = z
  .array(event)
  .describe('A batch of CloudEvents; the header callwatch-next is the cursor after the last')
  .register(named, { id: 'EventBatch' })
export const eventStream = namedText(
  'EventStream',
  'Server-sent events, whose data are CloudEvents and whose ids are cursors',
)

/* The package exports these. */
export type { AlertChange } from './alert.ts'
export type { CallChange, CallData, Participant } from './call.ts'
