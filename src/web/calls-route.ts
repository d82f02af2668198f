import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { FINAL_STATUSES, OPEN_STATUSES } from '../ledger/call.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { Store } from '../store/store.ts'
import { callsCsv } from './calls-csv.ts'
import { queryProblem } from './query-problem.ts'
import { callView, type WatchedTarget } from './views.ts'

/** The most calls that one answer of the history is made from; the newest come first. */
const MOST_CALLS = 10_000

const STATUSES = [...OPEN_STATUSES, ...FINAL_STATUSES, 'other'] as const
const isoTime = z.union([z.iso.datetime({ offset: true }), z.iso.date()]).transform((text) => Date.parse(text) / 1000)
const unixTime = z
  .string()
  .regex(/^\d{1,12}(\.\d+)?$/)
  .transform(Number)

const query = z.strictObject({
  finished_since: z
    .union([unixTime, isoTime], 'must be a time: ISO 8601 in UTC like 2026-11-20T08:00:00Z, or UNIX seconds')
    .optional(),
  status: z.enum(STATUSES, `must be one of ${STATUSES.join(', ')}`).optional(),
  target: z.string().optional(),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'must be a whole number from 1 to 99999')
    .transform(Number)
    .optional(),
  format: z.enum(['json', 'csv'], 'must be json or csv').optional(),
})

/** `GET /api/v1/calls`: calls in progress, or with `finished_since` those that finished since, newest first. */
export function callsRoute(
  app: FastifyInstance,
  { targets, store }: { targets: readonly WatchedTarget[]; store: Pick<Store, 'finishedCalls'> },
): void {
  app.get('/api/v1/calls', async (request, reply) => {
    const parsed = query.safeParse(request.query)
    if (!parsed.success) return reply.code(400).send({ error: queryProblem(parsed.error, Object.keys(query.shape)) })
    const { finished_since: since, status, target: wanted, format } = parsed.data
    // Calls in progress have none of these: an empty answer would look like "none failed".
    const isOver = FINAL_STATUSES.some((final) => final === status)
    if (since === undefined && isOver) {
      return reply.code(400).send({ error: `status=${status} is of finished calls: say since when by finished_since` })
    }
    const { limit = Infinity } = parsed.data
    const most = since === undefined ? limit : Math.min(limit, MOST_CALLS)
    const found =
      since === undefined
        ? inProgress(targets).filter(({ target, call }) => isWanted(wanted, target) && isWanted(status, call.status))
        : await store.finishedCalls({ since, limit: most + 1, target: wanted, status })
    const calls = found.slice(0, most).map(({ target, call }) => callView(target, call))
    // Who sums up an answer must be able to tell that the older calls are not in it.
    const truncated = found.length > most
    if (format !== 'csv') return truncated ? { calls, truncated } : { calls }
    if (truncated) reply.header('x-callwatch-truncated', 'true')
    return reply.type('text/csv; charset=utf-8').send(callsCsv(calls))
  })
}

function inProgress(targets: readonly WatchedTarget[]): { target: string; call: TrackedCall }[] {
  return targets.flatMap(({ target, ledger }) => [...ledger.open.values()].map((call) => ({ target, call })))
}

function isWanted(wanted: string | undefined, value: string): boolean {
  return wanted === undefined || wanted === value
}
