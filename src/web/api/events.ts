import { pipeline, Readable } from 'node:stream'
import { constants, createGzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply } from 'fastify'
import {
  distinctUntilChanged,
  exhaustMap,
  filter,
  firstValueFrom,
  from,
  map,
  merge,
  NEVER,
  race,
  share,
  ReplaySubject,
  Subject,
  take,
  takeUntil,
  timer,
  type Observable,
} from 'rxjs'
import * as z from 'zod'
import { systemClock, type Clock } from '../../clock/clock.ts'
import { readCursor, writeCursor, type Cursor } from '../../events/cursor.ts'
import {
  CursorExpired,
  readEvents,
  readLatest,
  type EventFilter,
  type EventsPage,
  type ReadEvent,
} from '../../events/read-events.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import { EVENT_PREFIX, EVENT_TYPES, eventBatch, events, eventStream } from '../../views/event.ts'
import { cursorExpired } from '../../views/problem.ts'
import type { RouteOptions } from '../server.ts'
import type { Store } from '../../store/store.ts'
import { accepts } from '../accepts.ts'
import { concurrencyLimit } from '../concurrency-limit.ts'
import { acceptsGzip } from '../compression.ts'
import { liveState, onceRead, stateReader, type LiveState } from '../live-state.ts'
import { route } from './route.ts'
import { sessionIds, type NamedApp } from '../../ledger/session-id.ts'
import { QueryError } from '../../schema/query-error.ts'
import { sendProblem } from '../problem.ts'
import { workInTurn } from '../work-in-turn.ts'

type Log = Pick<Store, 'events' | 'latestEvents'>

/** The most events of a page, and how many it has by default. */
const MAX_LIMIT = 1000
const DEFAULT_LIMIT = 100
/** Pages of more events than by default take up to a megabyte each until their clients have read them: so many are made at a time. */
const MAX_LARGE_AT_A_TIME = 20
/** The most past events with which a new stream begins. */
const MAX_LATEST = 500
/** How many events a stream reads at a time, and holds while its client does not read. */
const STREAM_BATCH = 100

const MAX_STREAMS = 100
const RETRY_AFTER_SECONDS = 10

/** How soon a stream notices a new event (seconds). */
const NOTICE_SECONDS = 1
/** Proxies close idle connections, often after a minute. WHATWG HTML §9.2.7 advises a comment every 15 s. */
const KEEP_ALIVE_SECONDS = 15

/** How long streams have to end when the server closes. */
const CLOSING_MS = 500

const BATCH_TYPE = 'application/cloudevents-batch+json'
const STREAM_TYPE = 'text/event-stream'

const eventType = z
  .string()
  .transform((text) => (text.startsWith(EVENT_PREFIX) ? text.slice(EVENT_PREFIX.length) : text))
  .pipe(z.enum(EVENT_TYPES, `must be one or more of ${EVENT_TYPES.join(', ')}, with commas between them`))
const list = z.string().transform((text) => text.split(','))

const parameters = z.strictObject({
  after: z
    .string()
    .refine(
      (text) => readCursor(text) !== undefined,
      'must be a cursor as an earlier answer had it; leave it out to read from the oldest event',
    )
    .optional()
    .describe('Cursor: `next` of an earlier answer, or the id of an event of a stream'),
  limit: z
    .string()
    .regex(/^0*[1-9]\d{0,4}$/, `must be a whole number from 1 to ${MAX_LIMIT}`)
    .transform((text) => Math.min(Number(text), MAX_LIMIT))
    .optional()
    .describe(`Events at most; default ${DEFAULT_LIMIT}; not for streams`),
  latest: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number up to 99999')
    .transform((text) => Math.min(Number(text), MAX_LATEST))
    .optional()
    .describe(`Past events that a stream begins with, ${MAX_LATEST} at most`),
  type: list
    .pipe(z.array(eventType))
    .optional()
    .describe('Types with commas between them, with or without `callwatch.`'),
  target: list.optional().describe('Names of targets with commas between them'),
  session_id: z.string().optional().describe('Events of the calls of one session'),
  state: z
    .enum(['true', 'once'], 'must be true or once')
    .optional()
    .describe('For streams: also the state of all targets, then its changes; once: the stream ends soon; for the page'),
})

export type EventsRouteOptions = { store: Log; configured: () => readonly NamedApp[]; clock?: StreamClock }
type StreamClock = Pick<Clock, 'scheduler' | 'monotonic'>

/**
 * The log of events: a page after a cursor or, if the client accepts it, a stream of server-sent events. The stream begins after
 * `Last-Event-ID` or `after`, otherwise with the `latest` past events.
 */
export const eventsRoute = route(
  'GET /api/v1/events',
  'The log of events: a page after a cursor, or a stream of server-sent events',
  {
    checks: { querystring: parameters },
    answers: {
      200: { 'application/json': events, [BATCH_TYPE]: eventBatch, [STREAM_TYPE]: eventStream },
      410: { 'application/problem+json': cursorExpired },
    },
  },
  (options: EventsRouteOptions | (RouteOptions & EventsRouteOptions), app) => {
    const { store, configured, clock = systemClock } = options
    const state$ = 'readState' in options ? liveState(options, options.readState, clock) : undefined
    const admits = concurrencyLimit(MAX_LARGE_AT_A_TIME, clock)
    const inTurn = workInTurn()
    const openStream = eventStreams({ log: store, inTurn, clock }, app)
    const page = async (reply: FastifyReply, asked: Parameters<typeof readEvents>[1], isBatch: boolean) => {
      if (asked.limit > DEFAULT_LIMIT && (await admits(reply)) === undefined) return reply
      const read = inTurn(
        () => readEvents(store, asked),
        () => reply.raw.destroyed,
      )
      return sendPage(reply, isBatch, read)
    }
    return async ({ query, headers }, reply) => {
      const { after, limit, latest, state } = query
      const filter = filterOf(query, configured())
      if (!accepts(headers.accept, STREAM_TYPE)) {
        if (latest !== undefined) throw new QueryError('latest is for streams (Accept: text/event-stream); use limit')
        const cursor = after === undefined ? undefined : readCursor(after)
        return page(reply, { cursor, limit: limit ?? DEFAULT_LIMIT, filter }, accepts(headers.accept, BATCH_TYPE))
      }
      if (limit !== undefined)
        throw new QueryError('limit is for single answers; a stream has no end, but has `latest`')
      const resumed = headers['last-event-id'] ?? after
      const from = typeof resumed === 'string' ? { resumed } : { latest: latest ?? 0 }
      const aborted$ = state === 'once' ? onceRead(state$, clock) : NEVER
      return openStream(reply, { from, filter, state$: state && state$, aborted$ }, acceptsGzip(headers))
    }
  },
)

function filterOf(
  { type, target, session_id }: z.output<typeof parameters>,
  configured: readonly NamedApp[],
): EventFilter {
  const ids = session_id === undefined ? undefined : sessionIds(session_id, configured)
  return { types: type, targets: target, sessionIds: ids }
}

type StreamSource = { log: Log; inTurn: ReturnType<typeof workInTurn>; clock: StreamClock }

/** The streams of a server, which end with it. */
function eventStreams(source: StreamSource, app: FastifyInstance) {
  const { log, clock } = source
  const open = new Set<Promise<unknown>>()
  const aborted$ = new Subject<void>()
  /** The position of the newest commit, read for all streams together. */
  const newest$ = timer(0, NOTICE_SECONDS * 1000, clock.scheduler).pipe(
    exhaustMap(() => readLatest(log, 0).catch(onlyStoreErrors(undefined))),
    filter((page) => page !== undefined),
    map(({ next }) => next.position),
    distinctUntilChanged(),
    share({ connector: () => new ReplaySubject<number>(1) }),
  )
  app.addHook('preClose', async () => {
    aborted$.next()
    // Disconnects clients that do not read.
    await firstValueFrom(race(from(Promise.all(open)), timer(CLOSING_MS)))
  })
  return (reply: FastifyReply, asked: Omit<StreamOptions, 'newest$'>, isZipped: boolean) => {
    if (open.size >= MAX_STREAMS) {
      const detail = `${MAX_STREAMS} event streams are open already; close one, or try again later`
      return sendProblem(reply.header('retry-after', RETRY_AFTER_SECONDS), 503, detail)
    }
    const ended = new Promise<void>((resolve) => reply.raw.once('close', resolve))
    const streamAborted$ = new ReplaySubject<unknown>(1)
    merge(aborted$, asked.aborted$, ended).pipe(take(1)).subscribe(streamAborted$)
    const options = { ...asked, newest$, aborted$: streamAborted$ }
    // One text at a time: each may have as many events as are read together.
    const texts = Readable.from(streamTexts(source, options), { highWaterMark: 1 })
    open.add(ended)
    void ended.then(() => open.delete(ended))
    reply.headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' }).type(STREAM_TYPE)
    if (asked.state$ === undefined || !isZipped) return reply.send(texts)
    // The states of targets are much alike. Each text leaves at once.
    const zip = createGzip({ flush: constants.Z_SYNC_FLUSH })
    return reply.header('content-encoding', 'gzip').send(pipeline(texts, zip, () => undefined))
  }
}

/** A batch is an array without anything else (CloudEvents JSON format, section 4). */
async function sendPage(reply: FastifyReply, isBatch: boolean, read: Promise<EventsPage | undefined>) {
  try {
    const page = await read
    // The client has disconnected.
    if (page === undefined) return reply
    const { events: found, next: after } = page
    const [events, next] = [found.map((each) => each.event), writeCursor(after)]
    reply.headers({ 'callwatch-next': next, 'cache-control': 'no-store' })
    return isBatch ? reply.type(`${BATCH_TYPE}; charset=utf-8`).send(events) : { events, next }
  } catch (error) {
    if (!(error instanceof CursorExpired)) throw error
    return sendProblem(reply, 410, error.message, { oldest: error.oldest })
  }
}

type StreamOptions = {
  from: { resumed: string } | { latest: number }
  filter: EventFilter
  /** Absent where only events are wanted. */
  state$: Observable<LiveState> | undefined
  newest$: Observable<number>
  aborted$: Observable<unknown>
}

/** The texts of a stream (WHATWG HTML §9.2), each when the client has read the one before, until `aborted$`. */
async function* streamTexts(
  { log, inTurn, clock }: StreamSource,
  { from, filter: selected, state$ = NEVER, newest$, aborted$ }: StreamOptions,
): AsyncGenerator<string | Buffer, void> {
  // The first line shows the client at once that it is connected.
  yield ': connected\nretry: 2000\n\n'
  let isAborted = false
  aborted$.subscribe(() => (isAborted = true))
  const wait = (event$: Observable<unknown>) => firstValueFrom(event$.pipe(takeUntil(aborted$)), { defaultValue: true })
  const pause = (seconds: number) => timer(seconds * 1000, clock.scheduler)
  const beyond = (position: number) => newest$.pipe(filter((newest) => newest > position))

  const reading = (after: Cursor | undefined) => {
    const read = () => nextPage(log, from, after, selected)
    // What happens after the greeting is for this stream, so it does not wait to read where it begins.
    const beginsNow = after === undefined && 'latest' in from && from.latest === 0
    return beginsNow ? read() : inTurn(read, () => isAborted)
  }

  const state = stateReader(state$, aborted$, clock)
  let next: Cursor | undefined
  let written = clock.monotonic()
  for (;;) {
    yield state.changes()
    const page = await reading(next).catch(onlyStoreErrors(undefined))
    if (isAborted) return
    if (page === undefined) {
      await wait(pause(NOTICE_SECONDS))
      continue
    }
    const isFirst = next === undefined
    const isAtEnd = next !== undefined && writeCursor(page.next) === writeCursor(next)
    next = page.next
    const silence = clock.monotonic() - written
    if (page.text !== '' || isFirst || silence >= KEEP_ALIVE_SECONDS) {
      // An id without data moves the client's last id, so that it continues after events that it does not want.
      // V8 frees bytes soon after they are written, but a long string only when its heap has grown several times over.
      yield Buffer.from(page.text === '' ? `: keep-alive\nid: ${writeCursor(next)}\n\n` : page.text)
      written = clock.monotonic()
    } else if (isAtEnd) {
      const due$ = race(beyond(next.position), pause(KEEP_ALIVE_SECONDS - silence))
      while ((await wait(race(due$, state.other$))) === false) yield state.changes()
    }
  }
}

/** The next text of a stream, and its cursor after it. */
async function nextPage(
  log: Log,
  from: StreamOptions['from'],
  next: Cursor | undefined,
  filter: EventFilter,
): Promise<{ text: string; next: Cursor }> {
  if (next === undefined && 'latest' in from) {
    const { events, next: newest } = await readLatest(log, from.latest)
    return { text: events.map(formatEvent).join(''), next: newest }
  }
  const cursor = next ?? ('resumed' in from ? readCursor(from.resumed) : undefined)
  try {
    if (cursor === undefined) throw new CursorExpired({ position: 0, id: '', place: -1 })
    const page = await readEvents(log, { cursor, limit: STREAM_BATCH, filter })
    return { text: page.events.map(formatEvent).join(''), next: page.next }
  } catch (error) {
    if (!(error instanceof CursorExpired)) throw error
    // The client has missed events: it loads what it shows again, and continues with new events.
    const { next: newest } = await readLatest(log, 0)
    return { text: `id: ${writeCursor(newest)}\nevent: reset\ndata: {}\n\n`, next: newest }
  }
}

/** An event of the stream; browsers listen by the first part of its type. */
function formatEvent({ cursor, type, event: data }: ReadEvent): string {
  return `id: ${cursor}\nevent: ${type.slice(0, type.indexOf('.'))}\ndata: ${JSON.stringify(data)}\n\n`
}
