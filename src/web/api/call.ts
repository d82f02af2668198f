import * as z from 'zod'
import { eventsOfCall } from '../../events/read-events.ts'
import { oneCall, otherCalls } from '../../history/list-calls.ts'
import { callDetails, callDetailsView } from '../../views/call-details.ts'
import { sendProblem } from '../problem.ts'
import type { WebOptions } from '../server.ts'
import { route } from './route.ts'

const params = z.strictObject({ target: z.string().describe('Name of a target'), call_id: z.string() })

/** One call, how it changed after its end, its events that are still kept, and the other calls of its session. */
export const callRoute = route(
  'GET /api/v1/calls/:target/:call_id',
  'One call with its events',
  {
    checks: { params },
    answers: { 200: callDetails },
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
      const others = await otherCalls(store, target, call)
      const events = await eventsOfCall(store, { target, id, firstSeen: call.firstSeen })
      return callDetailsView({ target, call }, others, events)
    },
)
