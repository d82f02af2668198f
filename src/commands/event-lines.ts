import { definitionOf } from '../alerts/definition-of.ts'
import { formatIn } from '../alerts/signal.ts'
import type { AlertChange, CallChange } from '../events/types.ts'
import type { ReadEvent } from '../events/read-events.ts'
import { titleOf } from '../notifications/text/notification-text.ts'
import { formatNumber, formatSeconds, formatTime } from '../text/format.ts'
import { inOneLine } from '../text/plain-text.ts'

/**
 * An event as one line of JSON: a CloudEvent, with its cursor as an extension attribute. A reader continues after the cursor.
 */
export function eventJson({ event, cursor }: ReadEvent): string {
  return JSON.stringify({ ...event, callwatchcursor: cursor })
}

/** `2026-11-20 08:15:30 UTC  production  ended         v1.us.…  audio call, 5m 30s, inferred`. */
export function eventLine({ type, event: { subject = '', time, data } }: ReadEvent): string {
  const [what, details] = 'alert' in data ? [titleOf(data), alertDetails(data)] : [subject, callDetails(data)]
  const kind = type.slice(type.indexOf('.') + 1).padEnd(LONGEST)
  // The service and the configuration may have line breaks.
  return [formatTime(Date.parse(time) / 1000), data.target, kind, what, details.join(', ')].map(inOneLine).join('  ')
}

const LONGEST = 'reappeared'.length

function callDetails({ type, mode, duration_seconds: duration, inferred, backfilled, ...data }: CallChange): string[] {
  return [
    `${type} ${mode}`,
    ...(duration === undefined ? [] : [formatSeconds(duration)]),
    ...changes(data),
    ...(inferred === true ? ['inferred'] : []),
    ...(backfilled ? ['backfilled'] : []),
  ]
}

/** What a correction changed: `ended → rejected`, `audio minutes 3 → 2`. */
function changes({ before, after, minutes }: Pick<CallChange, 'before' | 'after' | 'minutes'>): string[] {
  if (before === undefined || after === undefined) return []
  return [
    ...(before.status === after.status ? [] : [`${before.status} → ${after.status}`]),
    ...(['audio', 'video'] as const).flatMap((media) => {
      const [was, is] = [formatNumber(before.minutes[media], 4), formatNumber(minutes[media], 4)]
      return was === is ? [] : [`${media} minutes ${was} → ${is}`]
    }),
  ]
}

function alertDetails({ severity, expired_because: reason, signal, value, threshold }: AlertChange): string[] {
  const { unit } = definitionOf({ name: signal })
  const measured = `${signal} ${formatIn(unit, value)}`
  return [severity, ...(reason === undefined ? [] : [reason]), measured, `threshold ${formatIn(unit, threshold)}`]
}
