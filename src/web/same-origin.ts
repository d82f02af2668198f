import type { FastifyInstance } from 'fastify'

const READING = ['GET', 'HEAD', 'OPTIONS']

/**
 * Refuses what changes something where a page of another site asks for it: browsers send the password along, and say in
 * `Origin` (RFC 6454) whose page it is. Programs send none.
 */
export function onlySameOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin, host } = request.headers
    if (READING.includes(request.method) || origin === undefined || URL.parse(origin)?.host === host) return undefined
    return reply.code(403).send({
      error: 'a page of another origin may change nothing here; a reverse proxy must pass `Host` on as it came',
    })
  })
}
