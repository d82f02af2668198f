import { outboundAgent } from '../network/outbound-agent.ts'
import type { Transport } from './transport.ts'

/**
 * A transport with its own pool of keep-alive connections. It uses HTTP_PROXY, HTTPS_PROXY and NO_PROXY, except for loopback
 * addresses, and the certificate authorities of NODE_EXTRA_CA_CERTS.
 *
 * @param baseUrl the address that request paths are appended to, without a slash at its end
 * @param maxAnswerBytes a longer answer is an error
 */
export function undiciTransport(
  baseUrl: string,
  maxAnswerBytes: number,
): { send: Transport; close: () => Promise<void> } {
  // The signal of the request limits the whole answer; undici's timeouts would allow a body that arrives slowly forever.
  const agent = outboundAgent(baseUrl, { headersTimeout: 0, bodyTimeout: 0, maxResponseSize: maxAnswerBytes })
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname === '/' ? '' : pathname
  return {
    send: async ({ method, path, headers, body, signal }) => {
      const answer = await agent.request({ origin, path: prefix + path, method, headers, body: body ?? null, signal })
      return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() }
    },
    close: () => agent.destroy(),
  }
}
