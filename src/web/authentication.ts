import { createHash, timingSafeEqual } from 'node:crypto'
import basicAuth from '@fastify/basic-auth'
import type { FastifyInstance } from 'fastify'

export type Credentials = { username: string; password: string }

/** An orchestrator asks for these without a password. */
const OPEN_PATHS = ['/healthz', '/readyz']

/**
 * Asks for user name and password (RFC 7617) wherever something is served but the two health checks.
 *
 * @param credentials are read with each request, and may change in between
 */
export async function authenticate(app: FastifyInstance, credentials: Credentials): Promise<void> {
  await app.register(basicAuth, {
    authenticate: { realm: 'callwatch' },
    validate: async (givenName: string, givenPassword: string) => {
      // Both are compared, so that the time it takes says nothing of either.
      const { username, password } = credentials
      const isName = isSame(givenName, username)
      if (!isSame(givenPassword, password) || !isName) throw new Error('wrong user name or password')
    },
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (OPEN_PATHS.includes(request.url.split('?')[0]!)) done()
    else app.basicAuth(request, reply, done)
  })
}

/** In constant time, whatever the lengths. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
