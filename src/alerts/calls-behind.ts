import { OPEN_STATUSES } from '../ledger/call.ts'
import { formatDuration } from '../schema/duration-text.ts'
import { isoTime } from '../clock/times.ts'
import type { Alert } from './alert.ts'
import { definitionOf } from './definition-of.ts'
import type { Window } from './signal.ts'

const OPEN: readonly string[] = [...OPEN_STATUSES, 'in_progress']

type MeasuredAlert = Pick<Alert, 'target' | 'signal' | 'match' | 'labels'> & { window?: Window | undefined }

/**
 * The parameters of the page for the calls behind the value of an alert. Calls in progress have no times. Undefined if the value is
 * not measured on calls that parameters can select.
 */
export function callsBehind({ target, signal, match, labels, window }: MeasuredAlert) {
  const definition = definitionOf(signal)
  const statuses = 'calls' in definition ? definition.statuses?.(signal) : undefined
  if (statuses === undefined) return undefined
  const more = 'selects' in definition ? definition.selects : {}
  const selected: Record<string, string> = { target, ...match, ...labels, status: statuses.join(','), ...more }
  if (statuses.some((status) => OPEN.includes(status)))
    return 'longerThan' in signal ? { ...selected, longer_than: formatDuration(signal.longerThan) } : selected
  // The end of a period is excluded; its times are milliseconds.
  return window && { ...selected, since: isoTime(window.from), until: isoTime(window.to + 0.001) }
}

/** The API request for the calls behind the value of an alert; undefined if no request can select them. */
export function callsRequest(alert: MeasuredAlert): string | undefined {
  const behind = callsBehind(alert)
  if (behind === undefined) return undefined
  const query = new URLSearchParams(behind)
  // Without times the API lists the calls in progress.
  if (query.get('status') === 'in_progress') query.delete('status')
  return `/api/v1/calls?${query.toString()}`
}
