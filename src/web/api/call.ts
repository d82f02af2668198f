import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { eventsOfCall } from '../../events/read-events.ts'
import { oneCall, otherCalls } from '../../history/list-calls.ts'
import type { Store } from '../../store/store.ts'
import { callDetails, callDetailsView } from '../../views/call-details.ts'
import { sendProblem } from '../problem.ts'
import type { WebOptions } from '../server.ts'
import { route } from './route.ts'

const one = z.strictObject({
  target: z.string('is required: the name of a target').describe('Name of a target'),
  call_id: z.string('is required: the id of a call'),
})
const answers = { 200: callDetails }

/** One call, how it changed after its end, its events that are still kept, and the other calls of its session. */
export const callRoute = route(
  'GET /api/v1/call',
  'One call with its events',
  { checks: { querystring: one }, answers },
  ({ store }: WebOptions) =>
    ({ query }, reply) =>
      answer(store, query, reply),
)

/** The same. A proxy that decodes or normalizes paths changes an id such as `a/b`. */
export const callInPathRoute = route(
  'GET /api/v1/calls/:target/:call_id',
  'The same call; behind a proxy, an id with a slash may not arrive',
  { checks: { params: one }, answers },
  ({ store }: WebOptions) =>
    ({ params }, reply) =>
      answer(store, params, reply),
)

async function answer(store: Store, { target, call_id: id }: z.output<typeof one>, reply: FastifyReply) {
  const call = await oneCall(store, target, id)
  if (call === undefined)
    return sendProblem(
      reply,
      404,
      `no call ${id} of target ${target} is known; it may be expired. A session is not found here: list its calls`,
    )
  const others = await otherCalls(store, target, call)
  const events = await eventsOfCall(store, { target, id, firstSeen: call.firstSeen })
  return callDetailsView({ target, call }, others, events)
}
