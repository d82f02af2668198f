import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { isoTime } from '../../clock/iso-time.ts'
import { callRowView } from '../../events/call-data.ts'
import { eventsOfCall } from '../../events/events-of-call.ts'
import { oneCall } from '../../history/list-calls.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import type { RowReader } from '../../store/row-reader.ts'
import { api, type RouteDescription } from './route.ts'
import { sendProblem } from '../problem.ts'

export type CallDetails = ReturnType<typeof detailsOf>

const params = z.strictObject({ target: z.string().describe('Name of a target'), session_id: z.string() })

/** `GET /api/v1/calls/TARGET/SESSION_ID`: one call, how it changed after its end, and its events as far as they are kept. */
export function callRoute(app: FastifyInstance, { store }: { store: RowReader }): void {
  const config: RouteDescription = { summary: 'One call with its events', answers: { 200: 'CallDetails' } }
  api(app).get('/api/v1/calls/:target/:session_id', { schema: { params }, config }, async (request, reply) => {
    const { target, session_id: id } = request.params
    const call = await oneCall(store, target, id)
    if (call === undefined)
      return sendProblem(reply, 404, `no call ${id} of target ${target} is known; it may be expired`)
    const { events, keptSince } = await eventsOfCall(store, { target, id, firstSeen: call.firstSeen })
    const head = detailsOf(target, call, keptSince)
    return reply
      .type('application/json; charset=utf-8')
      .send(`${JSON.stringify(head).slice(0, -1)},"events":[${events.join(',')}]}`)
  })
}

/** @param keptSince since when the log has all events (UNIX seconds); undefined where it has none */
function detailsOf(target: string, call: TrackedCall, keptSince: number | undefined) {
  const { finish, firstSeen, status } = call
  return {
    call: callRowView({ target, call }),
    first_seen: isoTime(firstSeen),
    ...(finish !== undefined && {
      at_its_end: { status: finish.status, minutes: { audio: finish.audio, video: finish.video } },
    }),
    status_now: status,
    ...(keptSince !== undefined && { events_since: isoTime(keptSince) }),
  }
}
