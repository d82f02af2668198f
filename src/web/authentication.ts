import type { FastifyRequest, FastifyInstance } from 'fastify'
import basicAuth from '@fastify/basic-auth'
import type { Silence } from '../alerts/match.ts'
import { systemClock, type Clock } from '../clock/clock.ts'
import { delayedFailures, LOGIN_RETRY_AFTER_SECONDS } from './login-attempts.ts'
import { HOOK_PATH } from './hooks.ts'
import { digest, isSame } from './same-text.ts'

export type Credentials = { username: string; password: string }

/**
 * A security event, which is logged and counted. `peer` is the address of the client. A log-in is `refused` at once if another one of the
 * peer is delayed already.
 */
export type WebEvent = { peer: string } & (
  | { kind: 'login failed'; refused: boolean }
  | { kind: 'silence added' | 'silence edited'; user: string; silence: Silence }
  | { kind: 'silence expired'; user: string; id: number }
  /** For whom is nobody's business. */
  | { kind: 'calls searched'; user: string; target: string }
  | { kind: 'receivers tested'; user: string }
)

/** Whether orchestrators probe this path, without a password and by any name. */
const isHealthCheck = ({ url }: { url: string }): boolean => ['/healthz', '/readyz'].includes(url.split('?')[0]!)

/** Whether a request needs none of the users' passwords: a health check, or a webhook, which has its own. */
export const isExempt = (request: FastifyRequest): boolean =>
  isHealthCheck(request) || request.routeOptions.url === HOOK_PATH

type AuthenticateOptions = {
  auth: () => Credentials
  onEvent: (event: WebEvent) => void
  clock?: Clock
}

/** Requires user name and password (RFC 7617) for every path except the health checks and the webhooks of the calls service. */
export async function authenticate(
  app: FastifyInstance,
  { auth, onEvent, clock = systemClock }: AuthenticateOptions,
): Promise<void> {
  const delayed = delayedFailures(clock)
  await app.register(basicAuth, {
    authenticate: { realm: 'callwatch' },
    validate: async (givenName: string, givenPassword: string, request, reply) => {
      // Compares both, so that the duration reveals nothing about either.
      const { username, password } = auth()
      const isName = isSame(givenName, username)
      // Before any delay: other clients may have the same address, as behind a reverse proxy.
      if (isSame(givenPassword, password) && isName) return
      const { ip: peer } = request
      const refused = !(await delayed(peer, digest(`${givenName}:${givenPassword}`).toString('base64')))
      onEvent({ kind: 'login failed', peer, refused })
      if (!refused) throw new Error('wrong user name or password')
      reply.header('retry-after', LOGIN_RETRY_AFTER_SECONDS)
      throw Object.assign(new Error('too many log-ins have failed from this address; try again later'), {
        statusCode: 429,
      })
    },
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (isExempt(request)) done()
    else app.basicAuth(request, reply, done)
  })
}
