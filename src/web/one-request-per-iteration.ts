import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** The most waiting requests of a connection. Browsers and Prometheus send the next request after a response. */
const MAX_WAITING_PER_CONNECTION = 4

/**
 * Starts one request per iteration of the event loop, so that polls and timers run between requests, however many arrive at
 * once. Health checks do not wait. A connection that pipelines requests (RFC 9112 §9.3.2) is destroyed: thousands of them
 * fit into a packet or two, and would delay all other clients.
 */
export function oneRequestPerIteration(app: FastifyInstance): void {
  let started: Promise<unknown> = Promise.resolve()
  const waiting = new WeakMap<object, number>()
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw
    const count = (waiting.get(socket) ?? 0) + 1
    if (count > MAX_WAITING_PER_CONNECTION) {
      socket.destroy()
      reply.hijack()
      return
    }
    waiting.set(socket, count)
    reply.raw.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    if (request.url.startsWith('/healthz')) return
    started = started.then(() => setImmediate())
    await started
    // The client has disconnected.
    if (reply.raw.destroyed) reply.hijack()
  })
}
