import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { interval } from 'rxjs'
import * as z from 'zod'
import { systemClock, type Clock } from '../clock/clock.ts'
import { formatEvent, type EventFeed } from './event-feed.ts'
import { queryProblem } from './query-problem.ts'

/**
 * A client that lets this much wait (bytes) is too slow and is cut off; it resumes when it comes back. More than the
 * whole feed, so that no commit, however large, cuts off one that reads.
 */
const MOST_WAITING = 8 * 1024 * 1024

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

/** `GET /api/v1/events`: server-sent events, resumed by `Last-Event-ID`; without it, `latest` of the past come first. */
export function eventsRoute(
  app: FastifyInstance,
  feed: EventFeed,
  { scheduler }: Pick<Clock, 'scheduler'> = systemClock,
): void {
  const open = new Set<PassThrough>()
  app.get('/api/v1/events', async (request, reply) => {
    const parsed = query.safeParse(request.query)
    if (!parsed.success) return reply.code(400).send({ error: queryProblem(parsed.error, Object.keys(query.shape)) })
    const lastId = request.headers['last-event-id']
    const past = typeof lastId === 'string' ? feed.since(lastId) : feed.latest(parsed.data.latest)
    const stream = new PassThrough()
    open.add(stream)
    const unlisten = feed.listen((event) => {
      stream.write(formatEvent(event))
      if (stream.writableLength > MOST_WAITING) stream.destroy()
    })
    const keepingAlive = interval(KEEP_ALIVE * 1000, scheduler).subscribe(() => stream.write(': still here\n\n'))
    stream.once('close', () => {
      unlisten()
      keepingAlive.unsubscribe()
      open.delete(stream)
    })
    // A first line at once, so that a client knows it is connected.
    stream.write(`: connected\nretry: 2000\n\n${past.map(formatEvent).join('')}`)
    return reply
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      .type('text/event-stream')
      .send(stream)
  })
  app.addHook('preClose', async () => {
    for (const stream of open) stream.end()
  })
}
