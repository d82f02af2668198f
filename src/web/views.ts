import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Transition } from '../ledger/state.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'

export type CallView = ReturnType<typeof callView>
export type AlertView = ReturnType<typeof alertView>
export type TransitionEvent = ReturnType<typeof transitionEvent>
export type AlertEvent = ReturnType<typeof alertEvent>

/** Formats UNIX seconds as ISO 8601 in UTC, the format of all times in the API. */
export function isoTime(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString()
}

/** A call in `/api/v1/calls`. */
export function callView(target: string, call: TrackedCall) {
  const { finish, labels } = call
  const { type, mode, receiverType } = finish?.labels ?? labels
  const [callAudio = 0, callVideo = 0] = call.counted
  return {
    target,
    session_id: call.id,
    type,
    mode,
    receiver_type: receiverType,
    status: finish?.status ?? call.status,
    began: isoTime(beganAt(call)),
    ...(finish === undefined ? {} : { finished: isoTime(finish.at) }),
    participants: (finish === undefined ? call.joined : call.totalParticipants) ?? 0,
    minutes: { audio: callAudio, video: callVideo },
  }
}

/** An alert instance in `/api/v1/alerts`. */
export function alertView(target: string, instance: AlertInstance) {
  const { rule, labels, state, value, calls, since, firingSince, peak } = instance
  return {
    target,
    alert: rule.name,
    severity: rule.severity,
    state,
    labels,
    value,
    threshold: rule.threshold,
    calls: calls ?? null,
    since: isoTime(since),
    firing_since: firingSince === undefined ? null : isoTime(firingSince),
    peak,
    signal: rule.signal.name,
    breach: rule.breach,
    clear: rule.clear,
    ...(rule.runbookUrl === undefined ? {} : { runbook_url: rule.runbookUrl }),
  }
}

/** A transition of a call on the event stream. */
export function transitionEvent(target: string, { call, from, to, observed, at }: Transition) {
  return { ...callView(target, call), from, to, observed, at: isoTime(at) }
}

/** A change of an alert on the event stream. */
export function alertEvent(notification: Notification) {
  const { target, alert, severity, labels, signal, breach, kind, value, threshold, calls, peak, at } = notification
  const since = isoTime(notification.since)
  return {
    target,
    alert,
    severity,
    labels,
    state: kind,
    signal: signal.name,
    breach,
    value,
    threshold,
    calls: calls ?? null,
    since,
    peak,
    at: isoTime(at),
  }
}
