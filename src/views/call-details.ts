import * as z from 'zod'
import { isoTime } from '../clock/times.ts'
import type { otherCalls } from '../history/list-calls.ts'
import { CALL_STATUSES, FINAL_STATUSES } from '../ledger/call.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { call, callView } from './call.ts'
import { event } from './event.ts'
import { count, minutes, namedObject, time } from './shapes.ts'

/** One call, how it changed after its end, its events that are still kept, and the other calls of its session. */
export const callDetails = namedObject('CallDetails', {
  call,
  first_seen: time,
  at_its_end: z
    .object({ status: z.enum([...FINAL_STATUSES, 'other']), minutes })
    .optional()
    .describe('As it was counted; `call` has the minutes of today'),
  status_now: z.enum(CALL_STATUSES).describe('As the service last said'),
  events_since: time.optional().describe('Older events are not kept; absent where there is none'),
  events: z.array(event),
  others: z
    .object({ calls: z.array(call), more: count.describe('How many are not listed') })
    .describe('The other calls of its session, newest first, at most 20'),
})
export type CallDetails = z.output<typeof callDetails>

export function callDetailsView(
  { target, call }: { target: string; call: TrackedCall },
  others: Awaited<ReturnType<typeof otherCalls>>,
  { events, keptSince }: { events: z.output<typeof event>[]; keptSince: number | undefined },
): CallDetails {
  const { finish, firstSeen, status } = call
  return {
    call: callView({ target, call }),
    first_seen: isoTime(firstSeen),
    at_its_end: finish && { status: finish.status, minutes: { audio: finish.audio, video: finish.video } },
    status_now: status,
    events_since: keptSince === undefined ? undefined : isoTime(keptSince),
    events,
    others: { calls: others.calls.map((other) => callView({ target, call: other })), more: others.more },
  }
}
