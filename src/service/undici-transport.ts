import { EnvHttpProxyAgent } from 'undici'
import type { Transport } from './transport.ts'

/** An answer larger than this (bytes) is an error: a page of 1,000 calls with 50 participants each stays far below. */
const MAX_ANSWER = 64 * 1024 * 1024

/**
 * A transport with its own pool of keep-alive connections. HTTPS_PROXY and NO_PROXY are honoured, and so are the
 * certificate authorities of NODE_EXTRA_CA_CERTS.
 *
 * @param baseUrl the address that request paths are appended to, without a slash at its end
 */
export function undiciTransport(baseUrl: string): { send: Transport; close: () => Promise<void> } {
  // The request's own signal bounds the whole answer; undici's time-outs would let a body drip on for ever.
  const agent = new EnvHttpProxyAgent({ headersTimeout: 0, bodyTimeout: 0, maxResponseSize: MAX_ANSWER })
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
