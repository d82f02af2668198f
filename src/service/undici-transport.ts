import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { causesOf, codeOf, isOfProxy } from '../network/error-causes.ts'
import { isDirect, outboundAgent, request } from '../network/outbound-agent.ts'
import { ServiceError } from './service-error.ts'
import type { Transport } from './transport.ts'

/** The agents by their settings. Each closes connections that are idle, which also keep no process running. */
const agents = new Map<string, Dispatcher>()

/** The content encoding that is requested. */
const ENCODING = 'gzip'

/**
 * Limits how long an idle connection stays open if the service asks for more in Keep-Alive. Without that header, undici keeps
 * it for 4 s.
 */
const MAX_IDLE_MS = 45_000

/**
 * A transport with keep-alive connections. Transports with the same settings share an agent, which has connections per
 * origin. It uses HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, except for loopback addresses, and the certificate authorities of
 * NODE_EXTRA_CA_CERTS.
 *
 * @param baseUrl the address to which request paths are appended, without a trailing slash
 * @param maxAnswerBytes a longer answer is an error
 */
export function undiciTransport(baseUrl: string, maxAnswerBytes: number): Transport {
  const address = new URL(baseUrl)
  const { origin, protocol, pathname, hostname } = address
  const key = `${protocol} ${isDirect(hostname)} ${maxAnswerBytes}`
  const agent = agents.get(key) ?? newAgent(baseUrl, maxAnswerBytes)
  agents.set(key, agent)
  const prefix = pathname === '/' ? '' : pathname
  return async ({ method, path, headers, body, signal }) => {
    const asked = { ...headers, 'accept-encoding': ENCODING }
    const sent = { origin, path: prefix + path, method, headers: asked, body: body ?? null, signal }
    const answer = await request(agent, sent).catch((error: unknown) => {
      throw unreachableProxy(error, address) ?? error
    })
    // `x-gzip` is another name of gzip (RFC 9110 §8.4.1.3).
    const encodings = String(answer.headers['content-encoding'] ?? '')
      .toLowerCase()
      .split(/[\s,]+/)
    const encoding = encodings.filter((each) => each !== '' && each !== 'identity').join(', ').replace(/^x-/, '') // oxfmt-ignore
    // Whatever reads or records the headers sees no encoding that the answer does not have.
    if (encoding === '') delete answer.headers['content-encoding']
    const text = encoding === '' ? answer.body.text() : decoded(await answer.body.bytes(), encoding, maxAnswerBytes)
    return { status: answer.statusCode, headers: answer.headers, body: await text }
  }
}

function unreachableProxy(error: unknown, address: URL): ServiceError | undefined {
  const causes = causesOf(error)
  if (!isOfProxy(causes, address)) return undefined
  const message = `no answer from the service: the proxy cannot be reached (${codeOf(causes)})`
  return new ServiceError('network', message, { cause: error })
}

/** @throws {ServiceError} invalid: the body is not encoded as its header says, or is longer than `mostBytes` when decoded */
async function decoded(body: Uint8Array, encoding: string, mostBytes: number): Promise<string> {
  // An answer without a body has nothing to decode, whatever its header says.
  if (body.length === 0) return ''
  if (encoding !== ENCODING) throw undecodable(`is encoded as ${encoding.slice(0, 40)}, which callwatch does not read`)
  const text = await promisify(gunzip)(body, { maxOutputLength: mostBytes }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE'
      ? undecodable('was larger than callwatch reads when decoded', error)
      : undecodable(`is not ${encoding}, as its header says`, error)
  })
  return new TextDecoder().decode(text)
}

function undecodable(what: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid', `the answer of the service ${what}`, { cause })
}

// The signal of a request limits the whole answer. undici's own timeouts would never end a body that keeps arriving slowly.
function newAgent(baseUrl: string, maxAnswerBytes: number): Dispatcher {
  return outboundAgent(baseUrl, {
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: maxAnswerBytes,
    keepAliveMaxTimeout: MAX_IDLE_MS,
  })
}
