import type { Dispatcher } from 'undici'
import { outboundAgent } from '../network/outbound-agent.ts'
import { isLoopback } from '../network/loopback.ts'
import type { Transport } from './transport.ts'

/** The agents that there are, each with how many transports use it. */
const agents = new Map<string, { agent: Dispatcher; users: number }>()

/** Caps how long the service may ask in Keep-Alive that an idle connection is kept; without such a hint undici keeps it 4 s. */
const MAX_IDLE_MS = 45_000

/**
 * A transport with keep-alive connections. Transports share an agent, with connections per origin. It uses HTTP_PROXY,
 * HTTPS_PROXY and NO_PROXY, except for loopback addresses, and the certificate authorities of NODE_EXTRA_CA_CERTS.
 *
 * @param baseUrl the address that request paths are appended to, without a slash at its end
 * @param maxAnswerBytes a longer answer is an error
 */
export function undiciTransport(
  baseUrl: string,
  maxAnswerBytes: number,
): { send: Transport; close: () => Promise<void> } {
  const { origin, pathname, hostname } = new URL(baseUrl)
  const key = `${isLoopback(hostname)} ${maxAnswerBytes}`
  const shared = agents.get(key) ?? { agent: newAgent(baseUrl, maxAnswerBytes), users: 0 }
  agents.set(key, shared)
  shared.users += 1
  const prefix = pathname === '/' ? '' : pathname
  let isClosed = false
  return {
    send: async ({ method, path, headers, body, signal }) => {
      const sent = { origin, path: prefix + path, method, headers, body: body ?? null, signal }
      const answer = await shared.agent.request(sent)
      return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() }
    },
    close: async () => {
      if (isClosed) return
      isClosed = true
      shared.users -= 1
      if (shared.users > 0) return
      agents.delete(key)
      await shared.agent.destroy()
    },
  }
}

// The signal of the request limits the whole answer; undici's timeouts would allow a body that arrives slowly forever.
function newAgent(baseUrl: string, maxAnswerBytes: number): Dispatcher {
  return outboundAgent(baseUrl, {
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: maxAnswerBytes,
    keepAliveMaxTimeout: MAX_IDLE_MS,
  })
}
