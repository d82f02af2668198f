import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import * as z from 'zod'
import { systemClock, type Clock } from '../../clock/clock.ts'
import { callRowView, type CallRowView } from '../../events/call-data.ts'
import { MOMENT_IN_UTC, readMoment } from '../../history/moment.ts'
import { FINAL_STATUSES, MODES, OPEN_STATUSES, RECEIVER_TYPES, TYPES } from '../../ledger/call.ts'
import { csvLine } from '../../text/csv.ts'
import { api, type RouteDescription } from './route.ts'
import { cursorOf, pagesOf, readCursor, type CallsSource, type CallsWanted } from './calls-pages.ts'
import { concurrencyLimit } from '../concurrency-limit.ts'
import { BadRequest } from '../problem.ts'

/** Calls that one page has at most; the next page has the rest. */
const MAX_CALLS = 10_000

/** A response of more calls is a large one. */
const MAX_SMALL = 500
const MAX_LARGE_AT_A_TIME = 4

const ENDS = [...FINAL_STATUSES, 'lost'] as const
const STATUSES = [...OPEN_STATUSES, ...FINAL_STATUSES, 'other', 'lost'] as const
const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, `must be one of ${values.join(', ')}`).optional()

/** A moment in UTC (UNIX seconds). */
const moment = z
  .string()
  .refine((text) => readMoment(text, undefined, 0) !== undefined, `must be ${MOMENT_IN_UTC}`)
  .optional()

const parameters = z.strictObject({
  since: moment.describe('Calls that finished or were lost since then, newest first; default: calls in progress'),
  until: moment.describe('Of these the ones before then'),
  target: z
    .union([z.string(), z.array(z.string())])
    .transform((names) => [names].flat().flatMap((text) => text.split(',')))
    .optional()
    .describe('Names of targets, separated by commas'),
  type: oneOf(TYPES),
  mode: oneOf(MODES),
  receiver_type: oneOf(RECEIVER_TYPES),
  status: z
    .union([z.string(), z.array(z.string())])
    .transform((names) => [names].flat().flatMap((text) => text.split(',')))
    .pipe(z.array(z.enum(STATUSES, `must be some of ${STATUSES.join(', ')}, separated by commas`)))
    .optional()
    .describe('Some of the statuses, separated by commas; final ones and lost only with since'),
  has_recording: z
    .enum(['true', 'false'], 'must be true or false')
    .transform((text) => text === 'true')
    .optional(),
  session_id: z.string().optional().describe('How the session id begins'),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'must be a whole number from 1 to 99999')
    .transform(Number)
    .optional()
    .describe(`Calls at most; default and maximum as JSON: ${MAX_CALLS}; default as CSV and NDJSON: all`),
  format: z.enum(['json', 'csv', 'ndjson'], 'must be json, csv or ndjson').optional().describe('Default: json'),
  cursor: z.string().optional().describe('`next` of a response to the same parameters'),
})

/**
 * `GET /api/v1/calls`: calls in progress, or with `since` the calls that finished since then, newest first. As JSON
 * a response is one page; its `next` is the `cursor` of the next one. Without `limit`, CSV and NDJSON have all calls, which
 * are read as fast as the client takes them.
 */
export function callsRoute(
  app: FastifyInstance,
  source: CallsSource,
  clock: Pick<Clock, 'scheduler' | 'wall'> = systemClock,
): void {
  const large = concurrencyLimit(MAX_LARGE_AT_A_TIME, clock)
  const config: RouteDescription = {
    summary: 'Calls in progress, or finished calls of the history',
    answers: { 200: { 'application/json': 'Calls', 'text/csv': 'CallsCsv', 'application/x-ndjson': 'CallsNdjson' } },
  }
  // A HEAD would be answered at once, and the history be read all the same.
  const options = { schema: { querystring: parameters }, config, exposeHeadRoute: false }
  api(app).get('/api/v1/calls', options, async ({ query }, reply) => {
    const { limit, format = 'json' } = query
    const wanted = wantedOf(query, clock.wall())
    const isStream = format !== 'json' && limit === undefined
    const max = isStream ? Infinity : Math.min(limit ?? MAX_CALLS, MAX_CALLS)
    const alive = max > MAX_SMALL ? large.admits(reply) : () => undefined
    if (alive === undefined) return reply
    const pages = pagesOf(wanted, max, source)
    if (isStream) return streamed(pages, CALL_FORMATS[format], { reply, alive })
    // Buffers instead of one long text, of which Node.js would make two more copies.
    const pieces: Buffer[] = []
    let next: CallsWanted['from'] | undefined
    for await (const { calls, next: following } of pages) {
      next = following
      const views = calls.map(callRowView)
      const text =
        format === 'json' ? JSON.stringify(views).slice(1, -1) : views.map(CALL_FORMATS[format].line).join('')
      if (views.length > 0) pieces.push(Buffer.from(format === 'json' && pieces.length > 0 ? `,${text}` : text))
    }
    // Clients that sum up a response need to know that it has not all calls.
    if (format !== 'json') {
      if (next !== undefined) reply.headers({ 'x-callwatch-truncated': 'true', 'x-callwatch-next': cursorOf(next) })
      const { type, header } = CALL_FORMATS[format]
      return reply.type(type).send(Readable.from([Buffer.from(header), ...pieces]))
    }
    const more = next === undefined ? '' : `,"truncated":true,"next":"${cursorOf(next)}"`
    return reply
      .type('application/json; charset=utf-8')
      .send(Readable.from([Buffer.from('{"calls":['), ...pieces, Buffer.from(`]${more}}`)]))
  })
}

/** The calls that a request to this route selects, such as `calls_url` of an alert; without a `limit` and a `cursor` in it. */
export function readCallsRequest(request: string, now: number): CallsWanted {
  const { searchParams } = new URL(request, 'http://localhost')
  return wantedOf(parameters.parse(Object.fromEntries(searchParams)), now)
}

function wantedOf(query: z.output<typeof parameters>, now: number): CallsWanted {
  const { since: sinceText, until: untilText, status, cursor } = query
  const since = sinceText === undefined ? undefined : readMoment(sinceText, undefined, now)
  if (since === undefined) {
    // No call in progress has a final status: an empty response would read as "none failed".
    const final = status?.find((each) => ENDS.some((end) => end === each))
    if (final !== undefined) throw new BadRequest(`status=${final} is a status of finished calls: add \`since\``)
    if (untilText !== undefined) throw new BadRequest('`until` is of finished calls: add `since`')
  } else {
    const open = status?.find((each) => OPEN_STATUSES.some((one) => one === each))
    if (open !== undefined) throw new BadRequest(`status=${open} is a status of calls in progress: leave out \`since\``)
  }
  const until = readMoment(untilText ?? '', undefined, now) ?? Infinity
  if (since !== undefined && since >= until) throw new BadRequest('`since` must be before `until`')
  const from = cursor === undefined ? {} : readCursor(cursor, since !== undefined)
  if (from === undefined) throw new BadRequest('cursor must be the `next` of a response to the same parameters')
  return {
    finished: since === undefined ? undefined : pagedTimes(from, { since, until }),
    filter: {
      targets: query.target,
      type: query.type,
      mode: query.mode,
      receiverType: query.receiver_type,
      statuses: status,
      hasRecording: query.has_recording,
      sessionId: query.session_id,
    },
    from,
  }
}

/** All pages are of the same period, also where it is how long ago. */
function pagedTimes({ finished }: CallsWanted['from'], asked: { since: number; until: number }) {
  return finished === undefined ? asked : { since: finished.since, until: finished.until ?? Infinity }
}

type Format = { type: string; header: string; line: (call: CallRowView) => string }
type Streaming = { reply: FastifyReply; alive: () => void }

/** Sends all calls, each part once the client has taken the one before. */
async function streamed(
  pages: ReturnType<typeof pagesOf>,
  { type, header, line }: Format,
  { reply, alive }: Streaming,
): Promise<FastifyReply> {
  // Before the status is sent: the store may be unavailable.
  const first = await pages.next()
  async function* texts() {
    yield header
    for (let page = first; page.done !== true; page = await pages.next()) {
      alive()
      if (page.value.calls.length > 0) yield page.value.calls.map((call) => line(callRowView(call))).join('')
    }
  }
  return reply.type(type).send(Readable.from(texts(), { objectMode: false }))
}

/** The columns of calls as CSV. */
const CSV: Readonly<Record<string, (call: CallRowView) => string | number | boolean | undefined>> = {
  target: (call) => call.target,
  session_id: (call) => call.session_id,
  type: (call) => call.type,
  mode: (call) => call.mode,
  receiver_type: (call) => call.receiver_type,
  status: (call) => call.status,
  began: (call) => call.began,
  finished: (call) => call.finished,
  participants: (call) => call.participants,
  audio_minutes: (call) => call.minutes.audio,
  video_minutes: (call) => call.minutes.video,
  participant_audio_minutes: (call) => call.participant_minutes.audio,
  participant_video_minutes: (call) => call.participant_minutes.video,
  duration_seconds: (call) => call.duration_seconds,
  answer_delay_seconds: (call) => call.answer_delay_seconds,
  has_recording: (call) => call.has_recording,
  noticed: (call) => call.noticed,
}

/** Calls as text: what comes first, and a line for each. */
export const CALL_FORMATS = {
  csv: {
    type: 'text/csv; charset=utf-8',
    header: csvLine(Object.keys(CSV)),
    line: (call) => csvLine(Object.values(CSV).map((valueOf) => valueOf(call))),
  },
  ndjson: { type: 'application/x-ndjson; charset=utf-8', header: '', line: (call) => `${JSON.stringify(call)}\n` },
} as const satisfies Record<string, Format>
