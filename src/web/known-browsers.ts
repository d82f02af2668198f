import { createHmac, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Credentials } from './authentication.ts'

/**
 * Recognizes browsers that have logged in, by a cookie (RFC 6265), and exempts them from the delay after failed log-ins:
 * other clients may have the same address, as behind a reverse proxy. The cookie does not replace the password, which
 * every request still needs.
 *
 * @param credentials read at each request: a cookie is valid until they change
 */
export function knownBrowsers(credentials: Credentials) {
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
