import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { systemClock, type Clock } from '../clock/clock.ts'
import { FINAL_STATUSES, OPEN_STATUSES } from '../ledger/call.ts'
import { api, type Described } from './api.ts'
import {
  cursorOf,
  positionOf,
  readCursor,
  slicesOf,
  type CallsSource,
  type ListedCall,
  type Position,
} from './calls-pages.ts'
import { concurrencyLimit } from './concurrency-limit.ts'
import { BadRequest } from './problem.ts'
import { callView, type CallView } from '../events/call-data.ts'

/** Calls that one response has at most; the next page has the rest. */
const MAX_CALLS = 10_000

/** A response of more calls is a large one. */
const MAX_SMALL = 500
const MAX_LARGE_AT_A_TIME = 4

const STATUSES = [...OPEN_STATUSES, ...FINAL_STATUSES, 'other'] as const
const isoTime = z.union([z.iso.datetime({ offset: true }), z.iso.date()]).transform((text) => Date.parse(text) / 1000)
const unixTime = z
  .string()
  .regex(/^\d{1,12}(\.\d+)?$/)
  .transform(Number)

const parameters = z.strictObject({
  finished_since: z
    .union([unixTime, isoTime], 'must be a time: ISO 8601 in UTC like 2026-11-20T08:00:00Z, or UNIX seconds')
    .optional()
    .describe('Calls that finished since then, newest first; default: calls in progress'),
  status: z
    .enum(STATUSES, `must be one of ${STATUSES.join(', ')}`)
    .optional()
    .describe('Final ones only with finished_since'),
  target: z.string().optional().describe('Name of a target'),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'must be a whole number from 1 to 99999')
    .transform(Number)
    .optional()
    .describe(`Calls at most; default and maximum: ${MAX_CALLS}`),
  format: z.enum(['json', 'csv'], 'must be json or csv').optional().describe('Default: json'),
  cursor: z.string().optional().describe('`next` of a response to the same parameters'),
})

/**
 * `GET /api/v1/calls`: calls in progress, or with `finished_since` the calls that finished since then, newest first. A
 * response is one page; its `next` is the `cursor` of the next one.
 */
export function callsRoute(
  app: FastifyInstance,
  { targets, store }: CallsSource,
  clock: Pick<Clock, 'scheduler'> = systemClock,
): void {
  const large = concurrencyLimit(MAX_LARGE_AT_A_TIME, clock)
  const config: Described = {
    summary: 'Calls in progress, or finished calls of the history',
    answers: { 200: { 'application/json': 'Calls', 'text/csv': 'CallsCsv' } },
  }
  api(app).get('/api/v1/calls', { schema: { querystring: parameters }, config }, async ({ query }, reply) => {
    const { finished_since: since, status, target, limit, format, cursor } = query
    // No call in progress has a final status: an empty response would read as "none failed".
    if (since === undefined && FINAL_STATUSES.some((final) => final === status)) {
      throw new BadRequest(`status=${status} is a status of finished calls: add finished_since`)
    }
    const from = cursor === undefined ? { offset: 0 } : readCursor(cursor, since !== undefined)
    if (from === undefined) throw new BadRequest('cursor must be the `next` of a response to the same parameters')
    const max = Math.min(limit ?? MAX_CALLS, MAX_CALLS)
    if (max > MAX_SMALL && !large.admits(reply)) return reply

    const isCsv = format === 'csv'
    // Buffers instead of one long text, of which Node.js would make two more copies.
    const pieces: Buffer[] = []
    let listed = 0
    let last: ListedCall | undefined
    for await (const slice of slicesOf({ since, target, status, from }, max + 1, { targets, store })) {
      const shown = slice.slice(0, max - listed)
      const views = shown.map(({ target, call }) => callView(target, call))
      if (isCsv) pieces.push(Buffer.from(views.map(csvLine).join('')))
      else if (shown.length > 0)
        pieces.push(Buffer.from(`${pieces.length === 0 ? '' : ','}${JSON.stringify(views).slice(1, -1)}`))
      listed += slice.length
      last = shown.at(-1) ?? last
    }
    const next =
      listed <= max || last === undefined
        ? undefined
        : cursorOf(since === undefined ? { offset: offsetOf(from) + max } : { after: positionOf(last) })
    // Clients that sum up a response need to know that it has not all calls.
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

/** The header line of calls as CSV (RFC 4180). */
const CSV_HEADER =
  'target,session_id,type,mode,receiver_type,status,began,finished,participants,audio_minutes,video_minutes\r\n'

function csvLine(call: CallView): string {
  const { target, session_id, type, mode, receiver_type, status, began, finished = '', participants, minutes } = call
  const texts = [target, session_id, type, mode, receiver_type, status, began, finished].map(quote)
  return `${[...texts, participants, minutes.audio, minutes.video].join(',')}\r\n`
}

/** Quotes a field. An apostrophe marks as text what a spreadsheet would run as a formula, leading spaces ignored. */
function quote(text: string): string {
  const harmless = /^[=+\-@＝＋－＠\s\p{Cc}\p{Cf}]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
