import { once } from 'node:events'
import { createServer } from 'node:http'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { isLoopback } from '../../../src/network/loopback.ts'
import { isDirect } from '../../../src/network/outbound-agent.ts'
import { networkError } from '../../../src/service/service-error.ts'
import { undiciTransport } from '../../../src/service/undici-transport.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { proxyInEnvironment } from '../../unit/notifications/proxy.ts'
import { listenOn } from '../../kit/commands/local-server.ts'
import { trusted } from '../../kit/commands/self-signed.ts'
import { SOON } from '../../kit/eventually.ts'
import { failure, PROXY_VARIABLES } from '../../kit/notifications/receiver.ts'
import { HTTP_RECEIVERS } from '../receivers/http-receivers.ts'
import { AT } from '../../kit/notifications/sample.ts'

beforeEach(() => {
  for (const name of PROXY_VARIABLES) {
    vi.stubEnv(name, undefined)
  }
})
afterEach(() => vi.unstubAllEnvs())

/** A server that is reached without the proxy, and the paths of its requests. */
async function onLoopback(host = '127.0.0.1') {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('{}')
  }).listen(0, host === '[::1]' ? '::1' : host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, asked }
}

let uses = 0
const SENT: [who: string, send: (url: string) => Promise<unknown>][] = [
  [
    'a request to the calls service',
    async (url) => {
      // With settings of its own, it has an agent of its own, which reads the variables of this test.
      const send = undiciTransport(url, 1e6 + uses++)
      const { signal } = new AbortController()
      return send({ method: 'GET', path: '/calls', headers: { apikey: 'a-secret' }, signal })
    },
  ],
  ...Object.entries(HTTP_RECEIVERS).map(([name, { open }]): [string, (url: string) => Promise<unknown>] => [
    `a delivery to ${name}`,
    (url) => open(url, virtualClock(AT))(),
  ]),
]

test.each(SENT)('%s at a loopback address does not go through the proxy', async (_who, send) => {
  const proxy = await proxyInEnvironment()
  const { url, asked } = await onLoopback()
  await send(url).catch(() => undefined)
  expect([asked.length, proxy.asked]).toEqual([1, []])
})

test.each(SENT)('%s at any other address goes through the proxy', async (_who, send) => {
  const proxy = await proxyInEnvironment()
  await send('http://elsewhere.test:8080').catch(() => undefined)
  expect(proxy.asked).toEqual([expect.stringContaining('elsewhere.test:8080')])
})

test.each(SENT)('%s uses ALL_PROXY where its protocol has no proxy of its own', async (_who, send) => {
  const proxy = await proxyInEnvironment()
  vi.stubEnv('ALL_PROXY', process.env['http_proxy'])
  vi.stubEnv('http_proxy', undefined)
  await send('https://elsewhere.test').catch(() => undefined)
  expect(proxy.asked).toEqual(['elsewhere.test:443'])
  vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:1')
  await send('https://elsewhere.test').catch(() => undefined)
  expect(proxy.asked).toHaveLength(1)
})

test('a SOCKS proxy looks up the name, also as curl spells that', async () => {
  const asked = Promise.withResolvers<string>()
  const proxy = createTcpServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]))
      socket.once('data', (connecting: Buffer) => {
        asked.resolve(connecting.subarray(5, 5 + connecting[4]!).toString())
        socket.destroy()
      })
    })
  })
  vi.stubEnv('all_proxy', `socks5h://127.0.0.1:${await listenOn(proxy)}`)
  await SENT[0]![1]('https://elsewhere.test').catch(() => undefined)
  expect(await asked.promise).toBe('elsewhere.test')
})

const REFUSED = [
  ['https://elsewhere.test', 407],
  ['https://elsewhere.test', 503],
  ['http://elsewhere.test', 407],
] as const

describe.each(REFUSED)('a request to %s that the proxy answers with %d', (url, status) => {
  test.each(Object.values(HTTP_RECEIVERS))('has not arrived at $called, and says so', async ({ called, open }) => {
    await proxyInEnvironment(status)
    const message = `${called} could not be reached: the proxy answered ${status}`
    expect(await failure(open(url, virtualClock(AT))())).toMatchObject({
      message,
      retryable: true,
      mayHaveArrived: false,
    })
  })

  test('to the calls service says so', async () => {
    await proxyInEnvironment(status)
    const message = `no answer from the service: the proxy answered ${status}`
    expect(networkError(await SENT[0]![1](url).catch((error: unknown) => error))).toMatchObject({ message })
  })
})

test.each(Object.values(HTTP_RECEIVERS))(
  'nothing has arrived at $called if the proxy never answers',
  async (receiver) => {
    const proxy = await proxyInEnvironment(0)
    const clock = virtualClock(AT)
    const failing = failure(receiver.open('https://elsewhere.test', clock)())
    await vi.waitFor(() => expect(proxy.asked).toHaveLength(1), SOON)
    await clock.advance(8)
    expect(await failing).toMatchObject({ retryable: true, mayHaveArrived: false })
  },
)

test.each(SENT)('%s to a proxy by HTTPS does not use HTTP/2', async (_who, send) => {
  const proxy = createSecureServer({ ...trusted(), allowHTTP1: true })
  const protocols: unknown[] = []
  proxy.on('secureConnection', ({ alpnProtocol }: TLSSocket) => protocols.push(alpnProtocol))
  proxy.on('connect', (_request, socket: Socket) => socket.end('HTTP/1.1 502 No\r\n\r\n'))
  proxy.on('stream', (stream: ServerHttp2Stream) => stream.respond({ ':status': 502 }, { endStream: true }))
  vi.stubEnv('https_proxy', `https://localhost:${await listenOn(proxy)}`)
  await send('https://elsewhere.test').catch(() => undefined)
  expect(protocols).toEqual(['http/1.1'])
})

test.each(['localhost', '127.8.9.10', '[::1]'])('%s is a loopback address', async (host) => {
  const proxy = await proxyInEnvironment()
  const { url, asked } = await onLoopback(host)
  await SENT[0]![1](url)
  expect([asked, proxy.asked]).toEqual([['/calls'], []])
})

test.each(['[::ffff:127.0.0.1]', '::ffff:7f00:1', '0:0:0:0:0:0:0:1', '::1'])(
  '%s is another spelling of a loopback address',
  (host) => expect(isLoopback(host)).toBe(true),
)

test.each(SENT)('%s to a network that NO_PROXY names does not go through the proxy', async (_who, send) => {
  const proxy = await proxyInEnvironment()
  vi.stubEnv('NO_PROXY', 'other.example, 0.0.0.0/8')
  const { url, asked } = await onLoopback('0.0.0.0')
  await send(url).catch(() => undefined)
  expect([asked.length, proxy.asked]).toEqual([1, []])
})

test.each([
  ['10.0.0.0/8', '10.1.2.3', true],
  ['10.0.0.0/8', '11.1.2.3', false],
  ['10.0.0.0/8', '10.example.com', false],
  ['10.0.0.0/8', '[fd00::1]', false],
  ['a.example fd00::/8', '[fd00::1]', true],
  ['fd00::/8', '10.1.2.3', false],
  ['10.0.*', '10.0.2.3', true],
  ['10.0.*', '10.10.2.3', false],
  ['Calls-*', 'calls-eu.example.com', true],
  ['*', 'anything.example', true],
  ['10.0.0.0/99,10.0.0.0/', '10.0.0.1', false],
  ['', 'calls.example', false],
])('with NO_PROXY=%s, that %s needs no proxy is %s', (entries, host, isExcluded) => {
  vi.stubEnv('NO_PROXY', entries)
  expect(isDirect(host)).toBe(isExcluded)
})

test.each([
  'localhost.example.com',
  '127.0.0.1.example.com',
  '128.0.0.1',
  '[::2]',
  '0.0.0.0',
  '::',
  '[::ffff:10.0.0.1]',
  '',
])('%s is not a loopback address', (host) => expect(isLoopback(host)).toBe(false))
