import type { FastifyInstance } from 'fastify'
import { interval } from 'rxjs'
import * as z from 'zod'
import { systemClock, type Clock } from '../clock/clock.ts'
import type { EventFeed } from './event-feed.ts'
import { eventStream, type EventStream } from './event-stream.ts'
import { readQuery } from './query.ts'

/** Past events that a new client gets at most. */
const MAX_LATEST = 500

const MAX_STREAMS = 100
const RETRY_AFTER_SECONDS = 10

/** Proxies close idle connections, often after a minute. WHATWG HTML §9.2.7 advises a comment every 15 s. */
const KEEP_ALIVE_SECONDS = 15

const parameters = z.strictObject({
  latest: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number up to 99999')
    .transform(Number)
    .default(0),
})

/**
 * `GET /api/v1/events`: server-sent events. `Last-Event-ID` resumes the stream; a stream without it starts with the
 * `latest` past events, 500 at most.
 */
export function eventsRoute(
  app: FastifyInstance,
  feed: EventFeed,
  { scheduler }: Pick<Clock, 'scheduler'> = systemClock,
): void {
  const open = new Set<EventStream>()
  app.get('/api/v1/events', async (request, reply) => {
    const { latest } = readQuery(parameters, request.query)
    if (open.size >= MAX_STREAMS) {
      const error = `${MAX_STREAMS} event streams are open already; close one, or try again later`
      return reply.code(503).header('retry-after', RETRY_AFTER_SECONDS).send({ error })
    }
    const lastId = request.headers['last-event-id']
    // The first line tells the client at once that it is connected.
    const client = eventStream(': connected\nretry: 2000\n\n')
    const { stream } = client
    open.add(client)
    client.send(typeof lastId === 'string' ? feed.since(lastId) : feed.latest(Math.min(latest, MAX_LATEST)))
    const unlisten = feed.listen((event) => client.send([event]))
    const keepAlive = interval(KEEP_ALIVE_SECONDS * 1000, scheduler).subscribe(() => client.comment('keep-alive'))
    stream.once('close', () => {
      unlisten()
      keepAlive.unsubscribe()
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
