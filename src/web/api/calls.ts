import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { systemClock, type Clock } from '../../clock/clock.ts'
import { cursorOf } from '../../views/queries/cursor.ts'
import { pagesOf, SEARCH_SECONDS, type CallsSource, type CallSelection } from '../../history/calls-pages.ts'
import { callsParameters, callSelection, MAX_CALLS } from '../../views/queries/calls-query.ts'
import type { NamedApp } from '../../ledger/session-id.ts'
import { readServiceNow } from '../../history/coverage.ts'
import { type Calls, calls, callsCsv, callsLines, callView, type CallView } from '../../views/call.ts'
import { CALL_FORMATS, type CallFormat } from '../../views/call-csv.ts'
import { concurrencyLimit } from '../concurrency-limit.ts'
import { route } from './route.ts'

/** A response of more calls is large: few are made at a time. */
const MAX_SMALL = 500
const MAX_LARGE_AT_A_TIME = 4

export type CallsRouteOptions = CallsSource & {
  configured?: () => readonly NamedApp[]
  clock?: Pick<Clock, 'scheduler'>
  wall?: () => number
}

/**
 * Calls in progress, or with `since` the calls that finished since then, newest first. As JSON a response is one page; its
 * `next` is the `cursor` of the next one. Without `limit`, CSV and NDJSON have all calls, which are read as fast as the client
 * takes them.
 */
export const callsRoute = route(
  'GET /api/v1/calls',
  'Calls in progress, or finished calls of the history',
  {
    checks: { querystring: callsParameters },
    answers: { 200: { 'application/json': calls, 'text/csv': callsCsv, 'application/x-ndjson': callsLines } },
    head: false,
  },
  ({ targets, store, configured = () => [], clock = systemClock, wall = systemClock.wall }: CallsRouteOptions) => {
    const admits = concurrencyLimit(MAX_LARGE_AT_A_TIME, clock)
    return async ({ query }, reply) => {
      const { limit, format } = query
      const isStream = format !== 'json' && limit === undefined
      const max = isStream ? Infinity : Math.min(limit ?? MAX_CALLS, MAX_CALLS)
      const alive = max > MAX_SMALL ? await admits(reply) : () => undefined
      if (alive === undefined) return reply
      const isTimeless = query.since === undefined && query.longer_than === undefined
      const now = isTimeless ? 0 : await readServiceNow(store, query.target, wall())
      const selection = callSelection(query, now, configured())
      const pages = pagesOf(selection, max, { targets, store }, isStream ? Infinity : SEARCH_SECONDS)
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
async function joined(parts: ReturnType<typeof pagesOf>): Promise<Calls> {
  const found: CallView[] = []
  let last: CallSelection['from'] | undefined
  for await (const { calls: some, next } of parts) {
    found.push(...some.map(callView))
    last = next
  }
  return last === undefined ? { calls: found } : { calls: found, truncated: true, next: cursorOf(last) }
}

type Streaming = { reply: FastifyReply; alive: () => void }

/** Sends all calls, each part once the client has taken the one before. */
async function streamed(
  pages: ReturnType<typeof pagesOf>,
  { type, header, line }: CallFormat,
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
