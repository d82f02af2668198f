import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** Requests of one connection that wait at a time. Browsers and Prometheus send the next one after an answer. */
const MOST_OF_A_CONNECTION = 4

/**
 * Begins one request in a turn of the event loop: however many come at once, polls and timers go on between them. Health
 * checks do not wait. A connection that sends one request after the other without waiting for answers (RFC 9112 §9.3.2)
 * is cut off: thousands of them fit into a packet or two, and all other clients would wait for them.
 */
export function oneATurn(app: FastifyInstance): void {
  let turn: Promise<unknown> = Promise.resolve()
  const waiting = new WeakMap<object, number>()
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw
    const count = (waiting.get(socket) ?? 0) + 1
    if (count > MOST_OF_A_CONNECTION) {
      socket.destroy()
      reply.hijack()
      return
    }
    waiting.set(socket, count)
    reply.raw.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    if (request.url.startsWith('/healthz')) return
    turn = turn.then(() => setImmediate())
    await turn
    // Nobody waits for the answer any more.
    if (reply.raw.destroyed) reply.hijack()
  })
}
