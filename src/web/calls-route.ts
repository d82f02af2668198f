import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { systemClock, type Clock } from '../clock/clock.ts'
import { FINAL_STATUSES, OPEN_STATUSES } from '../ledger/call.ts'
import type { Store } from '../store/store.ts'
import { CSV_HEADER, csvLine } from './calls-csv.ts'
import { cursorOf, positionOf, readCursor, slicesOf, type ListedCall, type Position } from './calls-pages.ts'
import { atMost } from './heavy-answers.ts'
import { queryProblem } from './query-problem.ts'
import { callView, type WatchedTarget } from './views.ts'

/** The most calls of one answer; what is left is on the next page. */
const MOST_CALLS = 10_000

/** An answer of more calls than this is a heavy one, and so many of these are made at a time. */
const LIGHT = 500
const MOST_HEAVY = 4

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
  cursor: z.string().optional(),
})

/**
 * `GET /api/v1/calls`: calls in progress, or with `finished_since` those that finished since, newest first. Page by page:
 * the `next` of an answer is the `cursor` of the next one.
 */
export function callsRoute(
  app: FastifyInstance,
  { targets, store }: { targets: readonly WatchedTarget[]; store: Pick<Store, 'finishedCalls'> },
  clock: Pick<Clock, 'scheduler'> = systemClock,
): void {
  const heavy = atMost(MOST_HEAVY, clock)
  app.get('/api/v1/calls', async (request, reply) => {
    const parsed = query.safeParse(request.query)
    if (!parsed.success) return reply.code(400).send({ error: queryProblem(parsed.error, Object.keys(query.shape)) })
    const { finished_since: since, status, target, format, cursor } = parsed.data
    // Calls in progress have none of these: an empty answer would look like "none failed".
    const isOver = FINAL_STATUSES.some((final) => final === status)
    if (since === undefined && isOver) {
      return reply.code(400).send({ error: `status=${status} is of finished calls: say since when by finished_since` })
    }
    const from = cursor === undefined ? { offset: 0 } : readCursor(cursor, since !== undefined)
    if (from === undefined) {
      return reply.code(400).send({ error: 'cursor must be the `next` of an answer to the same question' })
    }
    const most = Math.min(parsed.data.limit ?? MOST_CALLS, MOST_CALLS)
    if (most > LIGHT && !heavy.admits(reply)) return reply

    const isCsv = format === 'csv'
    // Pieces, and not one long text: that would be copied twice more.
    const pieces: Buffer[] = []
    let listed = 0
    let last: ListedCall | undefined
    for await (const slice of slicesOf({ since, target, status, from }, most + 1, { targets, store })) {
      const shown = slice.slice(0, most - listed)
      const views = shown.map(({ target, call }) => callView(target, call))
      if (isCsv) pieces.push(Buffer.from(views.map(csvLine).join('')))
      else if (shown.length > 0)
        pieces.push(Buffer.from(`${pieces.length === 0 ? '' : ','}${JSON.stringify(views).slice(1, -1)}`))
      listed += slice.length
      last = shown.at(-1) ?? last
    }
    // Who sums up an answer must be able to tell that there are more calls.
    const next =
      listed <= most || last === undefined
        ? undefined
        : cursorOf(since === undefined ? { offset: offsetOf(from) + most } : { after: positionOf(last) })
    if (isCsv) {
      if (next !== undefined) reply.headers({ 'x-callwatch-truncated': 'true', 'x-callwatch-next': next })
      return reply.type('text/csv; charset=utf-8').send(Readable.from([Buffer.from(CSV_HEADER), ...pieces]))
    }
    const more = next === undefined ? '' : `,"truncated":true,"next":"${next}"`
    return reply
      .type('application/json; charset=utf-8')
      .send(Readable.from([Buffer.from('{"calls":['), ...pieces, Buffer.from(`]${more}}`)]))
  })
}

function offsetOf(from: Position): number {
  return 'offset' in from ? from.offset : 0
}
