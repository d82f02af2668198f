import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { systemClock, type Clock } from '../../clock/clock.ts'
import { cursorOf } from '../../history/queries/cursor.ts'
import {
  pagesOf,
  SEARCH_SECONDS,
  type CallsSource,
  type CallSelection,
  type ListedPart,
} from '../../history/calls-pages.ts'
import { callsParameters, callSelection, MAX_CALLS } from '../../history/queries/calls-query.ts'
import type { NamedApp } from '../../ledger/session-id.ts'
import { readServiceNow } from '../../history/coverage.ts'
import { calls, callsCsv, callsLines, callView } from '../../views/call.ts'
import { CALL_FORMATS, type CallFormat } from '../../views/call-csv.ts'
import { concurrencyLimit } from '../concurrency-limit.ts'
import { workInTurn } from '../work-in-turn.ts'
import { route } from './route.ts'
import { withoutNoise } from '../../text/without-noise.ts'

/** A response of more calls is large: few are made at a time. */
const MAX_SMALL = 500
const MAX_LARGE_AT_A_TIME = 4
/** How many calls are formatted in one iteration of the event loop. */
const CALLS_PER_ITERATION = 500

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
    const inTurn = workInTurn()
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
      if (isStream) return streamed(pages, CALL_FORMATS[format], { reply, alive, inTurn })
      const used = format === 'json' ? JSON_PAGE : CALL_FORMATS[format]
      const read = () => joined(pages, used)
      const page = await (max > MAX_SMALL ? inTurn(read, () => reply.raw.destroyed) : read())
      return sendPage(reply, used, page)
    }
  },
)

/** A page as JSON, put together of texts: its calls as objects would all be alive at the same time. */
const JSON_PAGE: CallFormat = {
  type: 'application/json; charset=utf-8',
  header: '{"calls":[',
  line: (call) => JSON.stringify(withoutNoise(call)),
  separator: ',',
}

/** Clients that add up calls need to know whether there are more. */
const jsonEnd = (next: string | undefined) =>
  next === undefined ? ']}' : `],"truncated":true,"next":${JSON.stringify(next)}}`

type Page = Awaited<ReturnType<typeof joined>>

/** @param page undefined if the client has disconnected */
function sendPage(reply: FastifyReply, format: CallFormat, page: Page | undefined): FastifyReply {
  if (page === undefined) return reply
  const { texts, next } = page
  if (format === JSON_PAGE) texts.push(Buffer.from(jsonEnd(next)))
  else if (next !== undefined) reply.headers({ 'x-callwatch-truncated': 'true', 'x-callwatch-next': next })
  return reply.type(format.type).send(Buffer.concat(texts))
}

/** Joins all parts to one page. */
async function joined(parts: ReturnType<typeof pagesOf>, format: CallFormat) {
  const texts: Buffer[] = [Buffer.from(format.header)]
  let last: CallSelection['from'] | undefined
  for await (const { calls: some, next } of parts) {
    for await (const text of textsOf(some, format)) {
      if (texts.length > 1) texts.push(Buffer.from(format.separator ?? ''))
      texts.push(text)
    }
    last = next
  }
  return { texts, next: last === undefined ? undefined : cursorOf(last) }
}

async function* textsOf(some: ListedPart['calls'], { line, separator = '' }: CallFormat): AsyncGenerator<Buffer> {
  for (let i = 0; i < some.length; i += CALLS_PER_ITERATION) {
    const views = some.slice(i, i + CALLS_PER_ITERATION).map(callView)
    yield Buffer.from(views.map(line).join(separator))
    await setImmediate()
  }
}

type Streaming = { reply: FastifyReply; alive: () => void; inTurn: ReturnType<typeof workInTurn> }

/** Sends all calls. Each part is read and formatted as a whole once the client has taken the one before, so that only texts wait for it. */
async function streamed(
  pages: ReturnType<typeof pagesOf>,
  format: CallFormat,
  { reply, alive, inTurn }: Streaming,
): Promise<FastifyReply> {
  /** The texts of the next part; undefined after the last one, and once the client has disconnected. */
  const read = async () => {
    const page = await pages.next()
    if (page.done === true) return undefined
    return Array.fromAsync(textsOf(page.value.calls, format))
  }
  const next = () => inTurn(read, () => reply.raw.destroyed)
  // Read before the status is sent, because the store may be unavailable.
  const first = await next()
  async function* texts() {
    yield format.header
    for (let some = first; some !== undefined; some = await next()) {
      alive()
      for (const text of some) {
        yield text
        alive()
      }
    }
  }
  return reply.type(format.type).send(Readable.from(texts(), { objectMode: false }))
}
