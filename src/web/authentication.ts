import { createHmac, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest, FastifyInstance } from 'fastify'
import basicAuth from '@fastify/basic-auth'
import type { Silence } from '../alerts/match.ts'
import { systemClock, type Clock } from '../clock/clock.ts'
import { LOGIN_RETRY_AFTER_SECONDS, loginAttempts } from './login-attempts.ts'
import { HOOK_PATH } from './hooks.ts'
import { sendProblem } from './problem.ts'
import { digest, isSame } from './same-text.ts'

/**
 * Recognizes browsers that have logged in, by a cookie (RFC 6265), and exempts them from the delay after failed log-ins:
 * other clients may have the same address, as behind a reverse proxy. The cookie does not replace the password, which
 * every request still needs.
 *
 * @param credentials read at each request: a cookie is valid until they change
 */
function knownBrowsers(credentials: Credentials) {
  const key = randomBytes(32)
  // A cookie belongs to a host, whatever the port. The name has the port, so that daemons on one host do not overwrite
  // each other's cookies.
  const cookieFor = ({ socket }: FastifyRequest) => {
    const token = createHmac('sha256', key).update(JSON.stringify([credentials.username, credentials.password]))
    return `callwatch-${socket.localPort}=${token.digest('base64url')}`
  }
  const knows = (request: FastifyRequest) =>
    request.headers.cookie !== undefined && request.headers.cookie.split(/; */).includes(cookieFor(request))
  return {
    knows,
    /** Sends the browser of this request its cookie. */
    remember: (request: FastifyRequest, reply: FastifyReply): void => {
      if (knows(request)) return
      const secure = request.protocol === 'https' ? '; Secure' : ''
      reply.header('set-cookie', `${cookieFor(request)}; Path=/; HttpOnly; SameSite=Lax${secure}`)
    },
  }
}

export type Credentials = { username: string; password: string }

/** A security event, which is logged and counted. `peer` is the address of the client. */
export type WebEvent = { peer: string } & (
  | { kind: 'login failed' }
  | { kind: 'silence added'; user: string; silence: Silence }
  | { kind: 'silence edited'; user: string; silence: Silence }
  | { kind: 'silence expired'; user: string; id: number }
)

/** Whether orchestrators probe this path, without a password and by any name. */
const isHealthCheck = ({ url }: { url: string }): boolean => ['/healthz', '/readyz'].includes(url.split('?')[0]!)

/** Whether a request needs none of the users' passwords: a health check, or a webhook, which has its own. */
export const isExempt = (request: FastifyRequest): boolean =>
  isHealthCheck(request) || request.routeOptions.url === HOOK_PATH

type AuthenticateOptions = {
  /** Read at each request: they may change in between. */
  credentials: Credentials
  onEvent: (event: WebEvent) => void
  clock?: Clock
}

/** Requires user name and password (RFC 7617) for every path except the health checks and the webhooks of the calls service. */
export async function authenticate(
  app: FastifyInstance,
  { credentials, onEvent, clock = systemClock }: AuthenticateOptions,
): Promise<void> {
  const attempts = loginAttempts(clock)
  const browsers = knownBrowsers(credentials)
  await app.register(basicAuth, {
    authenticate: { realm: 'callwatch' },
    validate: async (givenName: string, givenPassword: string, request, reply) => {
      // Compares both, so that the duration reveals nothing about either.
      const { username, password } = credentials
      const isName = isSame(givenName, username)
      if (isSame(givenPassword, password) && isName) {
        browsers.remember(request, reply)
        return
      }
      const { ip: peer } = request
      attempts.failed(peer, digest(`${givenName}:${givenPassword}`).toString('base64'))
      onEvent({ kind: 'login failed', peer })
      throw new Error('wrong user name or password')
    },
  })
  app.addHook('onRequest', async (request, reply) => {
    if (isExempt(request) || request.headers.authorization === undefined || browsers.knows(request)) return undefined
    if (await attempts.admit(request.ip)) return undefined
    const detail = 'too many log-ins have failed from this address; try again later'
    return sendProblem(reply.header('retry-after', LOGIN_RETRY_AFTER_SECONDS), 429, detail)
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (isExempt(request)) done()
    else app.basicAuth(request, reply, done)
  })
}
