import { createHash, timingSafeEqual } from 'node:crypto'
import basicAuth from '@fastify/basic-auth'
import type { FastifyInstance } from 'fastify'
import { systemClock, type Clock } from '../clock/clock.ts'
import { loggedInBefore } from './logged-in-before.ts'
import { LOGIN_RETRY_AFTER, loginAttempts } from './login-attempts.ts'
import type { WebEvent } from './web-event.ts'

export type Credentials = { username: string; password: string }

/** An orchestrator asks for these without a password. */
const OPEN_PATHS = ['/healthz', '/readyz']

export type AuthenticateOptions = {
  /** Are read with each request, and may change in between. */
  credentials: Credentials
  note: (event: WebEvent) => void
  clock?: Clock
}

/** Asks for user name and password (RFC 7617) wherever something is served but the two health checks. */
export async function authenticate(
  app: FastifyInstance,
  { credentials, note, clock = systemClock }: AuthenticateOptions,
): Promise<void> {
  const attempts = loginAttempts(clock)
  const before = loggedInBefore(credentials)
  await app.register(basicAuth, {
    authenticate: { realm: 'callwatch' },
    validate: async (givenName: string, givenPassword: string, request, reply) => {
      // Both are compared, so that the time it takes says nothing of either.
      const { username, password } = credentials
      const isName = isSame(givenName, username)
      if (isSame(givenPassword, password) && isName) {
        before.note(request, reply)
        return
      }
      const { ip: peer } = request
      attempts.failed(peer, digest(`${givenName}:${givenPassword}`).toString('base64'))
      note({ kind: 'login failed', peer })
      throw new Error('wrong user name or password')
    },
  })
  const isOpen = ({ url }: { url: string }) => OPEN_PATHS.includes(url.split('?')[0]!)
  app.addHook('onRequest', async (request, reply) => {
    if (isOpen(request) || request.headers.authorization === undefined || before.has(request)) return undefined
    if (await attempts.admit(request.ip)) return undefined
    const error = 'too many log-ins have failed from this address; try again later'
    return reply.code(429).header('retry-after', LOGIN_RETRY_AFTER).send({ error })
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (isOpen(request)) done()
    else app.basicAuth(request, reply, done)
  })
}

/** In constant time, whatever the lengths. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
