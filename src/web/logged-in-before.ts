import { createHmac, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Credentials } from './authentication.ts'

/**
 * Knows browsers that have logged in, by a cookie (RFC 6265): others that share their address, as behind a reverse proxy,
 * cannot slow them down. The cookie lets nobody in, the password is asked for as before.
 *
 * @param credentials are read with each request: a cookie is valid for as long as they stay the same
 */
export function loggedInBefore(credentials: Credentials): {
  has: (request: FastifyRequest) => boolean
  /** Gives the browser of this request its cookie. */
  note: (request: FastifyRequest, reply: FastifyReply) => void
} {
  const key = randomBytes(32)
  // Cookies are of a host, whatever the port: daemons beside each other must not take each other's away.
  const cookieFor = ({ socket }: FastifyRequest) => {
    const token = createHmac('sha256', key).update(JSON.stringify([credentials.username, credentials.password]))
    return `callwatch-${socket.localPort}=${token.digest('base64url')}`
  }
  const has = (request: FastifyRequest) =>
    request.headers.cookie !== undefined && request.headers.cookie.split(/; */).includes(cookieFor(request))
  return {
    has,
    note: (request, reply) => {
      if (has(request)) return
      const secure = request.protocol === 'https' ? '; Secure' : ''
      reply.header('set-cookie', `${cookieFor(request)}; Path=/; HttpOnly; SameSite=Lax${secure}`)
    },
  }
}
