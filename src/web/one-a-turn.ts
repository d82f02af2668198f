import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/**
 * Begins one request in a turn of the event loop: however many come at once, polls and timers go on between them. Health
 * checks do not wait.
 */
export function oneATurn(app: FastifyInstance): void {
  let turn: Promise<unknown> = Promise.resolve()
  app.addHook('onRequest', async (request) => {
    if (request.url.startsWith('/healthz')) return
    turn = turn.then(() => setImmediate())
    await turn
  })
}
