import type { FastifyInstance } from 'fastify'
import { interval } from 'rxjs'
import * as z from 'zod'
import { systemClock, type Clock } from '../clock/clock.ts'
import type { EventFeed } from './event-feed.ts'
import { eventStream, type EventStream } from './event-stream.ts'
import { queryProblem } from './query-problem.ts'

/** So many of the past events a new client gets at most, whatever it asks for. */
const MOST_LATEST = 500

/** So many clients follow the feed at a time. */
const MOST_STREAMS = 100
/** When one that is too many may try again (seconds). */
const RETRY_AFTER = 10

/**
 * A comment comes this often (seconds), also while nothing happens: proxies cut connections on which nothing does,
 * often after a minute (WHATWG HTML §9.2.7 advises 15 s).
 */
const KEEP_ALIVE = 15

const query = z.strictObject({
  latest: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number up to 99999')
    .transform(Number)
    .default(0),
})

/** `GET /api/v1/events`: server-sent events, resumed by `Last-Event-ID`; without it, `latest` of the past come first, 500 at most. */
export function eventsRoute(
  app: FastifyInstance,
  feed: EventFeed,
  { scheduler }: Pick<Clock, 'scheduler'> = systemClock,
): void {
  const open = new Set<EventStream>()
  app.get('/api/v1/events', async (request, reply) => {
    const parsed = query.safeParse(request.query)
    if (!parsed.success) return reply.code(400).send({ error: queryProblem(parsed.error, Object.keys(query.shape)) })
    if (open.size >= MOST_STREAMS) {
      const error = `${MOST_STREAMS} clients follow the events already; close one, or try again later`
      return reply.code(503).header('retry-after', RETRY_AFTER).send({ error })
    }
    const lastId = request.headers['last-event-id']
    const latest = Math.min(parsed.data.latest, MOST_LATEST)
    // A first line at once, so that a client knows it is connected.
    const client = eventStream(': connected\nretry: 2000\n\n')
    const { stream } = client
    open.add(client)
    client.send(typeof lastId === 'string' ? feed.since(lastId) : feed.latest(latest))
    const unlisten = feed.listen((event) => client.send([event]))
    const keepingAlive = interval(KEEP_ALIVE * 1000, scheduler).subscribe(() => client.comment('still here'))
    stream.once('close', () => {
      unlisten()
      keepingAlive.unsubscribe()
      open.delete(client)
    })
    return reply
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      .type('text/event-stream')
      .send(stream)
  })
  app.addHook('preClose', async () => {
    for (const { stream } of open) stream.end()
  })
}
