import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { limitConnections } from '../../../../src/web/limit-connections.ts'
import { listenOn } from '../../../kit/commands/local-server.ts'
import { selfSigned } from '../../../kit/commands/self-signed.ts'
import { serve, shownTarget } from '../../../kit/web/serve.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
const SLOW = `POST /api/v1/silences HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n`

/** On a busy machine, an answer may take long. */
const WAIT = { timeout: 60_000, interval: 1 }

type Client = { socket: Socket; answer: () => string }

/** A client whose address is 127.0.0.`host`, connected, after an answer if it requests something that has one. */
async function clientOf(port: number, host: number, request = ''): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${host}` }).on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  let answer = ''
  socket.on('data', (part: Buffer) => (answer += part.toString()))
  await once(socket, 'connect')
  if (request !== '') await new Promise((resolve) => socket.write(request, resolve))
  if (request.startsWith('GET')) await vi.waitFor(() => expect(answer).not.toBe(''), WAIT)
  return { socket, answer: () => answer }
}

async function clientsOf(port: number, count: number, host: number, request = ''): Promise<Client[]> {
  const clients: Client[] = []
  for (let n = 0; n < count; n += 1) clients.push(await clientOf(port, host, request))
  return clients
}

/** How many of them the server has not closed. */
const openOf = (clients: readonly Client[]) => clients.filter(({ socket }) => socket.readyState === 'open').length

describe('with 500 connections of one client', () => {
  test.each([
    ['are idle after a request', get('/healthz'), 491],
    // Then those that were answered are idle, and give way.
    ['have sent nothing', '', 499],
    ['send a request that does not end', SLOW, 499],
  ])('that %s, health checks and scrapes of this client and others are answered', async (_what, request, left) => {
    const { url } = await serve([shownTarget()])
    const port = Number(new URL(url).port)
    const clients = await clientsOf(port, 500, 2, request)
    expect(openOf(clients)).toBe(500)
    for (const [host, path] of [1, 2, 3].flatMap((one) =>
      ['/healthz', '/readyz', '/metrics'].map((p) => [one, p] as const),
    )) {
      const { answer } = await clientOf(port, host, get(path))
      expect(answer()).toMatch(/^HTTP\/1.1 200 /)
    }
    await vi.waitFor(() => expect(openOf(clients)).toBe(left), WAIT)
  })
})

/** A server with so many connections at most. */
async function limited(
  max: number,
  handler: RequestListener = (_request, response) => void response.end('ok'),
  server: Server = createServer(handler),
) {
  limitConnections(server, max)
  return listenOn(server)
}

describe('when the server is full', () => {
  test('idle connections of the client that has the most give way, the one unused for longest first', async () => {
    const port = await limited(8)
    const few = await clientsOf(port, 3, 2, get('/'))
    const many = await clientsOf(port, 5, 3, get('/'))
    many[0]!.socket.write(get('/again'))
    await vi.waitFor(() => expect(many[0]!.answer().match(/200 OK/g)).toHaveLength(2), WAIT)
    await clientOf(port, 4, get('/'))
    await vi.waitFor(() =>
      expect(many.map(({ socket }) => socket.readyState === 'open')).toEqual([true, false, true, true, true]),
    )
    expect(openOf(few)).toBe(3)
  })

  test('a client that has more than any other cannot take the place of another', async () => {
    const port = await limited(8)
    const few = await clientsOf(port, 2, 2, get('/'))
    await clientsOf(port, 30, 3, get('/'))
    expect(openOf(few)).toBe(2)
  })

  test('a connection with a request under way stays while another is idle', async () => {
    const port = await limited(
      4,
      ({ url }, response) => void (url === '/feed' ? response.write('data') : response.end()),
    )
    const feeds = await clientsOf(port, 3, 2, get('/feed'))
    const idle = await clientsOf(port, 1, 3, get('/'))
    await clientOf(port, 4)
    await vi.waitFor(() => expect(openOf(idle)).toBe(0), WAIT)
    expect(openOf(feeds)).toBe(3)
  })

  test('a connection that has sent nothing yet gives way to no other client: it may be a health check', async () => {
    const port = await limited(4, (_request, response) => void response.write('data'))
    const busy = await clientsOf(port, 4, 2, get('/feed'))
    const silent = await clientOf(port, 1)
    await clientsOf(port, 2, 2, get('/feed'))
    expect([openOf(busy), openOf([silent])]).toEqual([1, 1])
  })

  test('one address, such as that of a reverse proxy, has all connections', async () => {
    const port = await limited(8)
    const clients = await clientsOf(port, 8, 2, get('/'))
    expect(openOf(clients)).toBe(8)
  })

  test('connections by TLS give way as well', async () => {
    const { key, cert } = selfSigned()
    const handler: RequestListener = ({ url }, response) =>
      void (url === '/feed' ? response.write('data') : response.end())
    const port = await limited(2, handler, createTlsServer({ key, cert }, handler))
    const secure = async (request: string) => {
      const socket = connectTls({ port, host: '127.0.0.1', ca: cert }).on('error', () => undefined)
      onTestFinished(() => void socket.destroy())
      socket.write(request)
      await once(socket, 'data')
      return { socket: socket.resume(), answer: () => '' }
    }
    const [feed, idle] = [await secure(get('/feed')), await secure(get('/'))]
    await secure(get('/'))
    await vi.waitFor(() => expect(openOf([idle])).toBe(0), WAIT)
    expect(openOf([feed])).toBe(1)
  })
})

test('near the limit, idle connections are kept for five seconds', async () => {
  const port = await limited(
    10,
    (_request, response) => void response.end('ok'),
    Object.assign(
      createServer((_request, response) => void response.end('ok')),
      { keepAliveTimeout: 72_000 },
    ),
  )
  const promised = async () => /keep-alive: timeout=(\d+)/i.exec((await clientOf(port, 2, get('/'))).answer())?.[1]
  await clientsOf(port, 6, 2)
  expect(await promised()).toBe('72')
  expect(await promised()).toBe('5')
})
