import { alertData } from '../alerts/alert-data.ts'
import { alertOf, type LiveAlert } from '../alerts/alert.ts'
import { isoTime } from '../clock/iso-time.ts'
import { callsRequest } from '../history/calls-request.ts'

export type AlertView = ReturnType<typeof alertView>

/** An alert in `/api/v1/alerts`. */
export function alertView(live: LiveAlert) {
  const { state, firingSince } = live.instance
  const alert = alertOf(live)
  const request = callsRequest(alert)
  return {
    ...alertData(alert),
    state,
    firing_since: firingSince === undefined ? null : isoTime(firingSince),
    clear: alert.clear,
    ...(request === undefined ? {} : { calls_url: request }),
    ...(alert.runbookUrl === undefined ? {} : { runbook_url: alert.runbookUrl }),
  }
}
