import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Transition } from '../ledger/state.ts'
import { callView } from '../events/call-data.ts'
import { isoTime } from '../clock/iso-time.ts'

export type AlertView = ReturnType<typeof alertView>
export type TransitionEvent = ReturnType<typeof transitionEvent>
export type AlertEvent = ReturnType<typeof alertEvent>

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
