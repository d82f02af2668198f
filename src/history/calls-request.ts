import { callsBehind } from '../alerts/calls-behind.ts'
import { isoTime } from '../clock/iso-time.ts'

/** The API request for the calls behind the value of an alert; undefined if no request can select them. */
export function callsRequest(alert: Parameters<typeof callsBehind>[0]): string | undefined {
  const behind = callsBehind(alert)
  if (behind === undefined) return undefined
  const { target, labels, statuses, window } = behind
  const query = new URLSearchParams({
    target,
    ...labels,
    ...(window && {
      status: statuses.join(','),
      since: isoTime(window.from),
      // The request excludes the end of a period; its times are milliseconds.
      until: isoTime(window.to + 0.001),
    }),
  })
  return `/api/v1/calls?${query.toString()}`
}
