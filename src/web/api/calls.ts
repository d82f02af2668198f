import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { systemClock, type Clock } from '../../clock/clock.ts'
import { serviceNow } from '../../history/coverage.ts'
import { readMoment } from '../../history/moment.ts'
import { FINAL_STATUSES, OPEN_STATUSES } from '../../ledger/call.ts'
import type { CsvFormat } from '../../text/csv.ts'
import { withoutNoise } from '../../text/without-noise.ts'
import { CSV_COLUMNS, calls, callsCsv, callsLines, callView, SHOWN_STATUSES, type CallView } from '../../views/call.ts'
import { csvOf } from '../../views/columns.ts'
import { cursorOf, pagesOf, readCursor, SEARCH_SECONDS, type CallsSource, type CallsWanted } from './calls-pages.ts'
import { concurrencyLimit } from '../concurrency-limit.ts'
import { BadRequest } from '../problem.ts'
import { callLabels, list, moment, flag } from './parameters.ts'

import { route } from './route.ts'

/** The most calls of a page; the next page has the rest. */
const MAX_CALLS = 10_000

/** A response of more calls is large: few are made at a time. */
const MAX_SMALL = 500
const MAX_LARGE_AT_A_TIME = 4

const ENDS = [...FINAL_STATUSES, 'lost'] as const

const parameters = z.strictObject({
  since: moment.describe('Calls that finished or were lost since then, newest first; default: calls in progress'),
  until: moment.describe('Of these the ones before then'),
  target: list.optional().describe('Names of targets, separated by commas'),
  ...callLabels,
  status: list
    .pipe(z.array(z.enum(SHOWN_STATUSES, `must be some of ${SHOWN_STATUSES.join(', ')}, separated by commas`)))
    .optional()
    .describe('Some of the statuses, separated by commas; final ones and lost only with since'),
  has_recording: flag.optional(),
  session_id: z.string().optional().describe('How the session id begins'),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'must be a whole number from 1 to 99999')
    .transform(Number)
    .optional()
    .describe(`Calls at most; default and maximum as JSON: ${MAX_CALLS}; default as CSV and NDJSON: all`),
  format: z.enum(['json', 'csv', 'excel', 'ndjson'], 'must be json, csv, excel or ndjson').default('json'),
  cursor: z.string().optional().describe('`next` of a response to the same parameters'),
})

export type CallsRouteOptions = CallsSource & { clock?: Pick<Clock, 'scheduler'>; wall?: () => number }

/**
 * Calls in progress, or with `since` the calls that finished since then, newest first. As JSON a response is one page; its
 * `next` is the `cursor` of the next one. Without `limit`, CSV and NDJSON have all calls, which are read as fast as the client
 * takes them.
 */
export const callsRoute = route(
  'GET /api/v1/calls',
  'Calls in progress, or finished calls of the history',
  {
    checks: { querystring: parameters },
    answers: { 200: { 'application/json': calls, 'text/csv': callsCsv, 'application/x-ndjson': callsLines } },
    head: false,
  },
  ({ targets, store, clock = systemClock, wall = systemClock.wall }: CallsRouteOptions) => {
    const large = concurrencyLimit(MAX_LARGE_AT_A_TIME, clock)
    return async ({ query }, reply) => {
      const { limit, format } = query
      const isStream = format !== 'json' && limit === undefined
      const max = isStream ? Infinity : Math.min(limit ?? MAX_CALLS, MAX_CALLS)
      const alive = max > MAX_SMALL ? await large.admits(reply) : () => undefined
      if (alive === undefined) return reply
      const now = query.since === undefined ? 0 : await serviceNow(store, query.target, wall())
      const wanted = wantedOf(query, now)
      const pages = pagesOf(wanted, max, { targets, store }, isStream ? Infinity : SEARCH_SECONDS)
      if (isStream) return streamed(pages, CALL_FORMATS[format], { reply, alive })
      const page = await joined(pages)
      if (format === 'json') return page
      if (page.truncated) reply.headers({ 'x-callwatch-truncated': 'true', 'x-callwatch-next': page.next })
      const { type, header, line } = CALL_FORMATS[format]
      return reply.type(type).send(header + page.calls.map(line).join(''))
    }
  },
)

/** Joins all parts to one page. Clients that add up calls need to know whether there are more. */
async function joined(parts: ReturnType<typeof pagesOf>): Promise<z.output<typeof calls>> {
  const found: CallView[] = []
  let last: CallsWanted['from'] | undefined
  for await (const { calls: some, next } of parts) {
    found.push(...some.map(callView))
    last = next
  }
  return last === undefined ? { calls: found } : { calls: found, truncated: true, next: cursorOf(last) }
}

/** The calls that a query of this route selects, without its `limit`. */
export function readCallsQuery(query: Readonly<Record<string, string | undefined>>, now: number): CallsWanted {
  return wantedOf(parameters.parse(query), now)
}

function wantedOf(query: z.output<typeof parameters>, now: number): CallsWanted {
  const { since: sinceText, until: untilText, status, cursor } = query
  const since = sinceText === undefined ? undefined : readMoment(sinceText, undefined, now)
  if (since === undefined && untilText !== undefined) throw new BadRequest('`until` is of finished calls: add `since`')
  expectStatuses(status ?? [], since !== undefined)
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

/** Refuses final statuses for calls in progress, and open ones for the history: an empty response would read as "none failed". */
function expectStatuses(statuses: readonly string[], isHistory: boolean): void {
  const others: readonly string[] = isHistory ? OPEN_STATUSES : ENDS
  const wrong = statuses.find((status) => others.includes(status))
  if (wrong === undefined) return
  const whose = isHistory ? 'calls in progress: leave out `since`' : 'finished calls: add `since`'
  throw new BadRequest(`status=${wrong} is a status of ${whose}`)
}

/** All pages are of the same period, also if `since` is a duration. */
function pagedTimes({ finished }: CallsWanted['from'], asked: { since: number; until: number }) {
  return finished === undefined ? asked : { since: finished.since, until: finished.until ?? Infinity }
}

type Format = { type: string; header: string; line: (call: CallView) => string }
type Streaming = { reply: FastifyReply; alive: () => void }

/** Sends all calls, each part once the client has taken the one before. */
async function streamed(
  pages: ReturnType<typeof pagesOf>,
  { type, header, line }: Format,
  { reply, alive }: Streaming,
): Promise<FastifyReply> {
  // Read before the status is sent, because the store may be unavailable.
  const first = await pages.next()
  async function* texts() {
    yield header
    for (let page = first; page.done !== true; page = await pages.next()) {
      alive()
      if (page.value.calls.length > 0) yield page.value.calls.map((call) => line(callView(call))).join('')
    }
  }
  return reply.type(type).send(Readable.from(texts(), { objectMode: false }))
}

const csv = (format: CsvFormat): Format => ({ type: 'text/csv; charset=utf-8', ...csvOf(CSV_COLUMNS, format) })

/** Calls as text: what comes first, and a line for each. */
export const CALL_FORMATS = {
  csv: csv('csv'),
  excel: csv('excel'),
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    header: '',
    line: (call) => `${JSON.stringify(withoutNoise(call))}\n`,
  },
} as const satisfies Record<string, Format>
