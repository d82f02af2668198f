import * as z from 'zod'
import { wantedOf } from '../../ledger/found-calls.ts'
import { readServiceNow } from '../../history/coverage.ts'
import { QueryError } from '../../schema/query-error.ts'
import { foundCalls, foundCallsView } from '../../views/found-call.ts'
import { givenTime } from '../../history/queries/parameters.ts'
import { sendProblem } from '../problem.ts'
import type { WebOptions } from '../server.ts'
import { route } from './route.ts'

const parameters = z.strictObject({
  target: z.string('is required: the name of a target').describe('Name of a target'),
  uid: z.string().min(1).optional().describe('The calls of this user'),
  guid: z.string().min(1).optional().describe('Instead: the calls to this group'),
  session_id: z.string().min(1).optional().describe('Instead: the calls of this session, whenever they began'),
  since: z.string().default('1d').describe('Calls that began since then: a time, or how long ago, such as 2d'),
})

/** Each may hold 20 pages in memory, and both together are slower. */
const AT_A_TIME = 2

/** What became of somebody's calls. Who is searched for is neither logged nor stored. */
export const findRoute = route(
  'GET /api/v1/find',
  'The calls of a user, a group or a session, as the service shows them now; needs http.auth and http.find',
  { checks: { querystring: parameters }, answers: { 200: foundCalls }, atATime: AT_A_TIME, head: false },
  ({ find, auth, targets, store, wall, onEvent }: WebOptions) =>
    async ({ query, signal: aborted, ip: peer }, reply) => {
      const search = find()
      if (search === undefined || auth === undefined)
        return sendProblem(reply, 403, 'calls are searched for only with `http.auth` and `http.find: true`')
      const { target } = query
      const wanted = wantedOf({ uid: query.uid, guid: query.guid, session: query.session_id })
      if (wanted === undefined) throw new QueryError('expected one of uid, guid and session_id')
      const now = await readServiceNow(store, [target], wall())
      const since = givenTime('since', query.since, 'UTC', now)
      if (!targets.all().includes(target)) return sendProblem(reply, 404, `there is no target ${target}`)
      onEvent({ kind: 'calls searched', peer, user: auth().username, target })
      const found = await search({ target, wanted, since, aborted })
      if (found !== undefined && 'problem' in found) return sendProblem(reply, 503, found.problem)
      if (found !== undefined) {
        reply.header('cache-control', 'no-store')
        return foundCallsView(target, found, wanted, now)
      }
      const { owner = 'the daemon that does' } = targets.others().find(({ name }) => name === target) ?? {}
      return sendProblem(reply, 409, `this daemon does not poll ${target}; ask ${owner}`)
    },
)
