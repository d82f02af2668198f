import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { networkError } from '../../../src/service/service-error.ts'
import type { TransportRequest } from '../../../src/service/transport.ts'
import { undiciTransport } from '../../../src/service/undici-transport.ts'
import { closedPort, listenOn, localServer } from '../../kit/commands/local-server.ts'
import { selfSigned, trusted } from '../../kit/commands/self-signed.ts'
import { PROXY_VARIABLES } from '../../kit/notifications/receiver.ts'
import { swallowingServer } from '../../kit/swallowing-server.ts'
import { never } from '../../unit/service/fake-transport.ts'

const KEY = 'k3y-0f-a-target'

beforeEach(() => {
  for (const name of PROXY_VARIABLES) {
    vi.stubEnv(name, undefined)
  }
})

afterEach(() => void vi.unstubAllEnvs())

const serve = async (handler: RequestListener) => (await localServer(handler)).port

function transportTo(baseUrl: string, maxAnswerBytes = 1024 * 1024) {
  const send = undiciTransport(baseUrl, maxAnswerBytes)
  return (path: string, request: Partial<TransportRequest> = {}) =>
    send({ method: 'GET', path, headers: { apikey: KEY }, signal: never, ...request })
}

/** The error, as the calls client reports it. */
async function failure(sent: Promise<unknown>) {
  const error = await sent.then(
    () => expect.unreachable('it was answered'),
    (thrown: unknown) => networkError(thrown),
  )
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(KEY)
  return error
}

test('a request arrives unchanged, below the path of the base address', async () => {
  const seen: unknown[] = []
  const port = await serve((request, response) => {
    const { method, url, headers } = request
    request.setEncoding('utf8').on('data', (body) => seen.push(body))
    request.on('end', () => {
      seen.push([method, url, headers['apikey']])
      response.writeHead(418, { 'X-Rate-Limit-Remaining': '3' }).end('{"ü":1}')
    })
  })
  const answer = await transportTo(`http://127.0.0.1:${port}/proxy/v3`)('/calls/a%2Fb?page=1', {
    method: 'POST',
    body: '{"b":2}',
  })
  expect(seen).toEqual(['{"b":2}', ['POST', '/proxy/v3/calls/a%2Fb?page=1', KEY]])
  expect(answer).toMatchObject({ status: 418, body: '{"ü":1}', headers: { 'x-rate-limit-remaining': '3' } })
})

test.each([
  ['gzip', gzipSync],
  ['GZIP', gzipSync],
  ['x-gzip', gzipSync],
  ['', (text: string) => text],
  ['identity', (text: string) => text],
  ['Identity', (text: string) => text],
  ['gzip, identity', gzipSync],
])('an answer encoded as %s is read', async (encoding, encode) => {
  const accepted: unknown[] = []
  const port = await serve((request, response) => {
    accepted.push(request.headers['accept-encoding'])
    response.writeHead(500, { 'Content-Encoding': encoding }).end(encode('{"ü":1}'))
  })
  expect(await transportTo(`http://127.0.0.1:${port}`)('/calls')).toMatchObject({ status: 500, body: '{"ü":1}' })
  expect(accepted).toEqual(['gzip'])
})

test('the encoding identity is none for all that read the headers', async () => {
  const port = await serve((_request, response) =>
    response.writeHead(200, { 'Content-Encoding': 'Identity' }).end('{}'),
  )
  const { headers } = await transportTo(`http://127.0.0.1:${port}`)('/calls')
  expect(headers).not.toHaveProperty('content-encoding')
})

test('an answer without a body is read, whatever encoding it names', async () => {
  const port = await serve((_request, response) => response.writeHead(204, { 'Content-Encoding': 'gzip' }).end())
  expect(await transportTo(`http://127.0.0.1:${port}`)('/calls')).toMatchObject({ status: 204, body: '' })
})

test.each([
  ['gzip', gzipSync(Buffer.alloc(3 * 1024 * 1024)), 'was larger than callwatch reads when decoded'],
  ['gzip', 'no gzip', 'is not gzip, as its header says'],
  ['br', '{}', 'is encoded as br, which callwatch does not read'],
])('an answer encoded as %s that cannot be read is an error: %$', async (encoding, body, problem) => {
  const port = await serve((_request, response) => response.writeHead(200, { 'Content-Encoding': encoding }).end(body))
  const error = await failure(transportTo(`http://127.0.0.1:${port}`)('/calls'))
  expect(error).toMatchObject({ kind: 'invalid', message: `the answer of the service ${problem}` })
})

test('connections are reused', async () => {
  const ports = new Set<number | undefined>()
  const port = await serve((request, response) => {
    ports.add(request.socket.remotePort)
    response.end('{}')
  })
  const send = transportTo(`http://127.0.0.1:${port}`)
  for (let i = 0; i < 6; i++) expect((await send('/calls')).body).toBe('{}')
  // Where one request follows at once upon another, the pool takes turns between two connections.
  expect(ports.size).toBeLessThanOrEqual(2)
})

test('targets of one origin share its connections', async () => {
  const sockets = new Set<Socket>()
  const port = await serve((request, response) => {
    sockets.add(request.socket)
    response.end('{}')
  })
  const transports = Array.from({ length: 20 }, (_, i) => undiciTransport(`http://127.0.0.1:${port}/app-${i}`, 7777))
  for (const send of transports)
    expect(await send({ method: 'GET', path: '/calls', headers: {}, signal: never })).toMatchObject({ body: '{}' })
  expect(sockets.size).toBeLessThanOrEqual(2)
})

test(
  'targets whose connections died in silence lose at most one poll for each connection',
  { timeout: 60_000 },
  async () => {
    const server = await swallowingServer((_request, response) => void response.end('{}'))
    const transports = Array.from({ length: 10 }, (_, i) => undiciTransport(`${server.url}/app-${i}`, 7776))
    const poll = (send: (typeof transports)[number], signal: AbortSignal) =>
      send({ method: 'GET', path: '/calls', headers: {}, signal })
    await Promise.all(transports.map((send) => poll(send, never)))
    const connections = server.connections()
    let deadline = new AbortController()
    server.swallow(() => deadline.abort(new DOMException('', 'TimeoutError')))
    let failed = 0
    for (const send of transports) {
      deadline = new AbortController()
      await poll(send, AbortSignal.any([deadline.signal, AbortSignal.timeout(20_000)])).catch(() => (failed += 1))
      expect(failed).toBeLessThanOrEqual(connections)
    }
    expect((await poll(transports[0]!, AbortSignal.timeout(20_000))).body).toBe('{}')
  },
)

test('a body that arrives too slowly ends when the signal is aborted', async () => {
  let socket: Socket | undefined
  const port = await serve((request, response) => {
    socket = request.socket
    response.write('{"data":[')
  })
  const controller = new AbortController()
  const sent = transportTo(`http://127.0.0.1:${port}`)('/calls', { signal: controller.signal })
  await vi.waitFor(() => expect(socket?.bytesWritten).toBeGreaterThan(0))
  // A reset is an error of the socket before it closes.
  const closed = new Promise((resolve) => socket!.once('close', resolve))
  controller.abort(new Error('it took too long'))
  expect(await failure(sent)).toMatchObject({
    kind: 'network',
    message: 'no answer from the service: it took too long',
  })
  await closed
})

test('a request with an aborted signal is not sent', async () => {
  let requests = 0
  const port = await serve((_request, response) => {
    requests += 1
    response.end()
  })
  const send = transportTo(`http://127.0.0.1:${port}`)
  await failure(send('/calls', { signal: AbortSignal.abort() }))
  expect(requests).toBe(0)
})

test.each([
  ['that says how long it is', true],
  ['that does not', false],
])('an answer %s is read up to the largest allowed size, and refused beyond it', async (_case, isSaid) => {
  const most = 300_000
  const body = (request: IncomingMessage) => Buffer.alloc(request.url === '/short' ? most : most + 1, ' ')
  const port = await serve((request, response) => {
    if (isSaid) response.setHeader('content-length', body(request).length)
    Readable.from([body(request)]).pipe(response)
  })
  const send = transportTo(`http://127.0.0.1:${port}`, most)
  expect((await send('/short')).body).toHaveLength(most)
  expect(await failure(send('/long'))).toMatchObject({
    kind: 'network',
    message: 'no answer from the service: the answer was larger than callwatch reads: UND_ERR_RES_EXCEEDED_MAX_SIZE',
  })
})

test('a connection that is reset within the body is an error, not a short answer', async () => {
  const port = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"data":[]}', () => response.destroy())
  })
  expect((await failure(transportTo(`http://127.0.0.1:${port}`)('/calls'))).message).toMatch(
    /^no answer from the service: connection reset: /,
  )
})

test('a refused connection is reported as such', async () => {
  expect(await failure(transportTo(`http://127.0.0.1:${await closedPort()}`)('/calls'))).toMatchObject({
    message: 'no answer from the service: connection refused: ECONNREFUSED',
  })
})

test('a host that does not exist is reported as such', async () => {
  // Without a network there is no name server to ask either.
  expect((await failure(transportTo('http://callwatch.invalid')('/calls'))).message).toMatch(
    /host not found.*: ENOTFOUND$|the DNS lookup failed.*: EAI_AGAIN$/,
  )
})

test('an untrusted certificate is reported with what to do', async () => {
  const port = await listenOn(createTlsServer(selfSigned(), (_request, response) => response.end('{}')))
  expect(await failure(transportTo(`https://127.0.0.1:${port}`)('/calls'))).toMatchObject({
    kind: 'network',
    message:
      'no answer from the service: its TLS certificate is not trusted ' +
      '(NODE_EXTRA_CA_CERTS adds authorities): DEPTH_ZERO_SELF_SIGNED_CERT',
  })
})

test('a server that accepts HTTP/2 only is reported as such', async () => {
  const port = await listenOn(createSecureServer(trusted()))
  expect((await failure(transportTo(`https://127.0.0.1:${port}`)('/calls'))).message).toContain('HTTP/2 only')
})

test('an answer that is not HTTP is reported as such', async () => {
  const port = await listenOn(createTcpServer((socket) => void socket.once('data', () => socket.end('220 mail\r\n'))))
  expect((await failure(transportTo(`http://127.0.0.1:${port}`)('/calls'))).message).toContain(
    'the answer was not HTTP',
  )
})

test('TLS to a server without it is reported as such', async () => {
  const port = await serve((_request, response) => response.end())
  expect((await failure(transportTo(`https://127.0.0.1:${port}`)('/calls'))).message).toContain('TLS failed')
})

test('a key that is not a valid header value is not reported', async () => {
  const port = await serve((_request, response) => response.end())
  const send = transportTo(`http://127.0.0.1:${port}`)
  const { message } = await failure(send('/calls', { headers: { apikey: `${KEY}\n` } }))
  expect(message).toContain('callwatch cannot send such a request: invalid apikey header')
})

test('a request ends when its signal is aborted, also while a proxy does not answer', async () => {
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${await listenOn(createServer().on('connect', () => undefined))}`)
  const sent = transportTo('https://calls.test/v3', 7777)('/calls', { signal: AbortSignal.timeout(50) })
  expect(await failure(sent)).toMatchObject({ kind: 'timeout' })
})

test.each([
  ['http://127.0.0.1:1', /the proxy cannot be reached \(ECONNREFUSED\)$/],
  ['http://proxy.invalid:3128', /the proxy cannot be reached \(\w+\)$/],
  ['', /: (?:host not found|the DNS lookup failed); check/],
])('with HTTPS_PROXY %j a request names the side that cannot be reached', async (proxy, problem) => {
  vi.stubEnv('HTTPS_PROXY', proxy)
  const { message } = await failure(transportTo('https://calls.invalid/v3', 6666 + proxy.length)('/calls'))
  expect(message).toMatch(problem)
})

test('HTTPS_PROXY is used', async () => {
  const asked: (string | undefined)[] = []
  const proxy = createServer().on('connect', (request, socket) => {
    asked.push(request.url)
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
  })
  vi.stubEnv('HTTPS_PROXY', `http://user:pass-word@127.0.0.1:${await listenOn(proxy)}`)
  // With settings of its own, it has an agent of its own, which reads the variable of this test.
  const { message } = await failure(transportTo('https://calls.test/v3', 8888)('/calls'))
  expect(asked).toEqual(['calls.test:443'])
  expect(message).not.toContain('pass-word')
})
