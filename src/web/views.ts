import type { AlertInstance } from '../alerts/alert-instance.ts'
import { isoTime } from '../clock/iso-time.ts'
import { callsRequest } from '../history/calls-request.ts'

export type AlertView = ReturnType<typeof alertView>

/** An alert instance in `/api/v1/alerts`. */
export function alertView(target: string, instance: AlertInstance) {
  const { rule, labels, state, value, calls, since, firingSince, peak, evidence } = instance
  const request = callsRequest({ target, ...rule, labels, window: evidence?.window })
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
    ...(request === undefined ? {} : { calls_url: request }),
    ...(rule.runbookUrl === undefined ? {} : { runbook_url: rule.runbookUrl }),
  }
}
