import * as z from 'zod'
import { isoTime } from '../../clock/times.ts'
import { callRowView } from '../../events/call-data.ts'
import { eventsOfCall } from '../../events/read-events.ts'
import { oneCall, otherCalls } from '../../history/list-calls.ts'
import { FINAL_STATUSES } from '../../ledger/call.ts'
import type { WebOptions } from '../server.ts'
import { sendProblem } from '../problem.ts'
import { call } from './calls.ts'
import { event } from './events.ts'
import { count, minutes, namedObject, statuses, time } from './parts.ts'
import { route } from './route.ts'

const answer = namedObject('CallDetails', {
  call,
  first_seen: time,
  at_its_end: z
    .object({ status: z.enum([...FINAL_STATUSES, 'other']), minutes })
    .optional()
    .describe('As it was counted; `call` has the minutes of today'),
  status_now: z.enum(statuses).describe('As the service last said'),
  events_since: time.optional().describe('Older events are not kept; absent where there is none'),
  events: z.array(event),
  others: z
    .object({ calls: z.array(call), more: count.describe('How many are not listed') })
    .describe('The other calls of its session, newest first, at most 20'),
})

export type CallDetails = z.output<typeof answer>

const params = z.strictObject({ target: z.string().describe('Name of a target'), call_id: z.string() })

/** One call, how it changed after its end, its events that are still kept, and the other calls of its session. */
export const callRoute = route(
  'GET /api/v1/calls/:target/:call_id',
  'One call with its events',
  {
    checks: { params },
    answers: { 200: answer },
  },
  ({ store }: WebOptions) =>
    async ({ params: { target, call_id: id } }, reply) => {
      const call = await oneCall(store, target, id)
      if (call === undefined)
        return sendProblem(
          reply,
          404,
          `no call ${id} of target ${target} is known; it may be expired. /api/v1/calls lists the calls of a session (session_id)`,
        )
      const { finish, firstSeen, status } = call
      const { calls, more } = await otherCalls(store, target, call)
      const { events, keptSince } = await eventsOfCall(store, { target, id, firstSeen })
      return {
        call: callRowView({ target, call }),
        first_seen: isoTime(firstSeen),
        at_its_end: finish && { status: finish.status, minutes: { audio: finish.audio, video: finish.video } },
        status_now: status,
        events_since: keptSince === undefined ? undefined : isoTime(keptSince),
        events,
        others: { calls: calls.map((other) => callRowView({ target, call: other })), more },
      }
    },
)
