import { hash } from 'node:crypto'
import type { Notification } from '../alerts/notification.ts'
import { isoTime } from '../clock/times.ts'
import type { ChangedCall, Correction, Delta, Transition } from '../ledger/state.ts'
import { MARK, type TrackedCall } from '../ledger/tracked-call.ts'
import type { TransitionPoint } from '../ledger/delta/transitions.ts'
import { alertChangeView, type AlertChange } from '../views/alert.ts'
import { callChangeView, type CallChange, type LoggedCallData } from '../views/call.ts'
import type { EventBody, EventType } from '../views/event.ts'

/**
 * An event as the log stores it. Its commit has the target, and `subject` is the call id. It is also the session id, unless the data
 * have another one. Versions in which a session had one call stored none.
 */
export type LoggedBody = LoggedEvent<LoggedCallData<CallChange> | AlertChange>
/** `again`: the same may happen to the call again. */
type LoggedEvent<Data = CallChange | AlertChange> = EventBody<Data> & { again?: true }

const ID_LENGTH = 22
const REPEATED: readonly EventType[] = ['call.lost', 'call.reappeared', 'call.corrected']
const BEFORE_THE_END: readonly EventType[] = ['call.initiated', 'call.ongoing']

/** An event as JSON for the log. Without participants: the log stores them apart, so that it can erase them. */
export function writeBody(body: LoggedBody): string {
  if (!('participant_list' in body.data)) return JSON.stringify(body)
  const { participant_list: _, ...data } = body.data
  return JSON.stringify({ ...body, data })
}

/** The event's participants as JSON; empty if it has none. */
export function writeParticipants({ data }: LoggedBody): string {
  return 'participant_list' in data ? JSON.stringify(data.participant_list) : ''
}

/**
 * The id of an event. It follows from what happened, so that an end that is found again after a backup was restored has the id that it
 * had. What may happen again has an id of all that the event says, with when callwatch saw it.
 *
 * @param target its name when the event was logged
 * @param text what {@link writeBody} wrote
 */
export function eventId(target: string, { type, subject, data, again }: LoggedEvent, text: string): string {
  const isOnce = 'began' in data && again !== true
  const what = isOnce ? [target, subject, type, data.began] : [target, text]
  return hash('sha256', JSON.stringify(what), 'base64url').slice(0, ID_LENGTH)
}

/**
 * Parses what {@link writeBody} and {@link writeParticipants} wrote.
 *
 * @param target its name now
 */
export function readBody(target: string, text: string, participants: string): LoggedEvent {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else writes to the log
  const body = JSON.parse(text) as LoggedEvent
  const { subject } = body
  const call = subject !== undefined && { target, call_id: subject, session_id: subject }
  const list = participants !== '' && { participant_list: JSON.parse(participants) }
  const alert = 'target' in body.data && { target }
  return { ...body, data: { ...call, ...body.data, ...alert, ...list } }
}

/** The committed changes of a target that lead to events. */
export type Changes = {
  ledger: Pick<Delta, 'transitions' | 'corrections' | 'details'>
  notifications: readonly Notification[]
  /** Whether callwatch found the changes late: in the first poll, or after a time in which it saw nothing. */
  backfilled: boolean
}

/** The events of a commit, in order. */
export function eventsOf({ ledger, notifications, backfilled }: Changes): LoggedBody[] {
  return [
    ...ledger.transitions.flatMap((transition) => transitionEvents(transition, backfilled)),
    ...ledger.corrections.map((correction) => correctionEvent(correction, backfilled)),
    ...ledger.details.map((details) => callEvent('call.details', details, callChangeView(details, backfilled))),
    ...notifications.map(alertEvent),
  ]
}

/**
 * A call that has already ended when it reappears gets two events. Readers that wait for its end need not know that it was
 * lost.
 */
function transitionEvents(transition: Transition, backfilled: boolean): LoggedBody[] {
  const { call, from, to, observed, at } = transition
  const data = { ...callChangeView(transition, backfilled), from, to, inferred: !observed }
  // A call with an undocumented status is open until the service reports its `endedAt`.
  const isChanges = to !== 'none' && (to !== 'other' || call.finish !== undefined)
  const reached = isChanges ? [callEvent(`call.${to}`, { call, at: happenedAt(call, to, at) }, data)] : []
  if (from !== 'lost') return reached
  return [callEvent('call.reappeared', transition, data), ...(call.finish === undefined ? [] : reached)]
}

/** When a call reached a status (UNIX seconds): the service's time if there is one, but not later than callwatch saw it. */
function happenedAt(call: TrackedCall, to: TransitionPoint, seen: number): number {
  if (to === 'lost') return seen
  if (to === 'initiated') return Math.min(call.initiatedAt ?? seen, seen)
  if (to === 'ongoing') return Math.min(call.startedAt ?? seen, seen)
  return Math.min(call.finish?.at ?? seen, seen)
}

function correctionEvent(correction: Correction, backfilled: boolean): LoggedBody {
  const { before, call } = correction
  const [audio = 0, video = 0] = before.minutes
  return callEvent('call.corrected', correction, {
    ...callChangeView(correction, backfilled),
    before: { status: before.status, minutes: { audio, video } },
    after: { status: call.status },
  })
}

function callEvent(
  type: EventType,
  { call, at }: Pick<ChangedCall, 'call' | 'at'>,
  data: LoggedCallData<CallChange>,
): LoggedBody {
  const hasGoneBack = (call.marks & MARK.wentBack) !== 0 && BEFORE_THE_END.includes(type)
  return {
    type,
    subject: call.id,
    time: isoTime(at),
    data,
    ...((hasGoneBack || REPEATED.includes(type)) && { again: true }),
  }
}

function alertEvent(notification: Notification): LoggedBody {
  const { kind, at } = notification
  return { type: `alert.${kind}`, time: isoTime(at), data: alertChangeView(notification) }
}
